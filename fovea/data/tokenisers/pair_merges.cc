#include "fovea/data/tokenisers/pair_merges.h"

#include <algorithm>

namespace fovea {

PairMerges::PairMerges(std::vector<Word> words) : words_(std::move(words)) {
  for (size_t i = 0; i < words_.size(); ++i)
    for (size_t at = 1; at < words_[i].symbols.size(); ++at)
      change(words_[i].symbols[at - 1], words_[i].symbols[at], int32_t(i), words_[i].count);
  publish();
}

std::optional<std::pair<PairMerges::Symbol, PairMerges::Symbol>> PairMerges::best(
    int64_t minimum_count) {
  while (!queue_.empty()) {
    const Candidate best = queue_.top();
    queue_.pop();
    const auto found = pairs_.find(best.pair);
    if (found == pairs_.end() || found->second.count != best.count) continue;  // out of date
    if (best.count < minimum_count) return {};
    return std::pair(Symbol(best.pair >> 32), Symbol(best.pair & 0xFFFFFFFF));
  }
  return {};
}

/// Adds `count` to a pair of word `word`; publish() puts what has changed into the queue.
void PairMerges::change(Symbol left, Symbol right, int32_t word, int64_t count) {
  const Pair pair = key_of(left, right);
  PairCount& entry = pairs_[pair];
  entry.count += count;
  if (count > 0 && (entry.words.empty() || entry.words.back() != word)) entry.words.push_back(word);
  changed_.push_back(pair);
}

void PairMerges::publish() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const Pair pair : changed_)
    if (const int64_t count = pairs_[pair].count; count > 0)
      queue_.push({count, pair});
    else
      pairs_.erase(pair);
  changed_.clear();
}

void PairMerges::merge(std::pair<Symbol, Symbol> pair, Symbol joined) {
  const auto [left, right] = pair;
  const Pair key = key_of(left, right);
  const std::vector<int32_t> holders = std::move(pairs_[key].words);
  for (const int32_t number : holders) {
    Word& word = words_[size_t(number)];
    std::vector<Symbol>& symbols = word.symbols;
    size_t kept = 0;
    for (size_t at = 0; at < symbols.size(); ++at) {
      const bool here = at + 1 < symbols.size() && symbols[at] == left && symbols[at + 1] == right;
      if (!here) {
        symbols[kept++] = symbols[at];
        continue;
      }
      if (kept > 0) {
        change(symbols[kept - 1], left, number, -word.count);
        change(symbols[kept - 1], joined, number, word.count);
      }
      if (at + 2 < symbols.size()) {
        change(right, symbols[at + 2], number, -word.count);
        change(joined, symbols[at + 2], number, word.count);
      }
      symbols[kept++] = joined;
      ++at;
    }
    symbols.resize(kept);
  }
  pairs_.erase(key);
  std::erase(changed_, key);
  publish();
}

}  // namespace fovea
