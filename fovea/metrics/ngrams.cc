#include "fovea/metrics/ngrams.h"

#include <algorithm>
#include <unordered_map>

namespace fovea {
namespace {

/// Small numbers for large ones, in the order in which they come.
class Numbering {
 public:
  uint64_t operator()(uint64_t key) {
    return numbers_.try_emplace(key, numbers_.size()).first->second;
  }
  size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<uint64_t, uint64_t> numbers_;
};

}  // namespace

std::vector<GramCounts> count_ngrams(std::span<const Symbols> sequences, int64_t order) {
  Numbering symbol_numbers;
  std::vector<std::vector<uint64_t>> symbols(sequences.size());
  for (size_t s = 0; s < sequences.size(); ++s)
    for (const int64_t symbol : sequences[s])
      symbols[s].push_back(symbol_numbers(uint64_t(symbol)));

  // An n-gram is the (n-1)-gram at the same place and one more symbol, so a pair of small numbers
  // names it without comparing all of its symbols.
  std::vector<std::vector<uint64_t>> grams = symbols;
  size_t distinct = symbol_numbers.size();
  std::vector<GramCounts> result;
  for (size_t n = 1; n <= size_t(order); ++n) {
    if (n > 1) {
      Numbering gram_numbers;
      for (size_t s = 0; s < grams.size(); ++s) {
        if (!grams[s].empty()) grams[s].pop_back();
        for (size_t i = 0; i < grams[s].size(); ++i)
          grams[s][i] = gram_numbers(grams[s][i] << 32 | symbols[s][i + n - 1]);
      }
      distinct = gram_numbers.size();
    }
    GramCounts& counts = result.emplace_back(grams.size(), std::vector<int64_t>(distinct));
    for (size_t s = 0; s < grams.size(); ++s)
      for (const uint64_t gram : grams[s]) ++counts[s][gram];
  }
  return result;
}

}  // namespace fovea
