#include "fovea/metrics/captioning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "fovea/metrics/characters.h"
#include "fovea/metrics/references.h"

namespace fovea {
namespace {

using Words = std::vector<std::string>;

constexpr double kRougeBeta = 1.2;
constexpr size_t kCiderOrders = 4;
constexpr double kCiderDeviation = 6, kCiderScale = 10;

bool is_letter_or_digit(int64_t character) {
  if (character > 127) return !is_white_space(character);
  return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
         (character >= 'A' && character <= 'Z');
}

size_t longest_common_subsequence(const Words& a, const Words& b) {
  std::vector<size_t> row(b.size() + 1);
  for (const std::string& word : a) {
    size_t diagonal = 0;
    for (size_t i = 0; i < b.size(); ++i) {
      const size_t above = row[i + 1];
      row[i + 1] = word == b[i] ? diagonal + 1 : std::max(above, row[i]);
      diagonal = above;
    }
  }
  return row.back();
}

double rouge_of(const Words& output, const std::vector<Words>& references) {
  double precision = 0, recall = 0;
  for (const Words& reference : references) {
    const auto common = double(longest_common_subsequence(output, reference));
    if (common == 0) continue;
    precision = std::max(precision, common / double(output.size()));
    recall = std::max(recall, common / double(reference.size()));
  }
  const double squared = kRougeBeta * kRougeBeta;
  return precision == 0 ? 0 : (1 + squared) * precision * recall / (recall + squared * precision);
}

/// The n-grams of each order, by their words with blanks between.
using NgramCounts = std::array<std::map<std::string, double>, kCiderOrders>;

NgramCounts ngrams_of(const Words& words) {
  NgramCounts counts;
  for (size_t first = 0; first < words.size(); ++first) {
    std::string gram;
    for (size_t n = 0; n < kCiderOrders && first + n < words.size(); ++n) {
      gram += (n > 0 ? " " : "") + words[first + n];
      ++counts[n][gram];
    }
  }
  return counts;
}

struct CountedCaption {
  NgramCounts counts;
  double length = 0;  // words
};

/// In how many pictures a reference has the n-gram.
using Occurrences = std::map<std::string, double>;

class Cider {
 public:
  Cider(Occurrences occurrences, size_t pictures)
      : occurrences_(std::move(occurrences)), pictures_(double(pictures)) {}

  double similarity(const CountedCaption& output, const CountedCaption& reference) const {
    const double distance = output.length - reference.length;
    const double nearness =
        std::exp(-distance * distance / (2 * kCiderDeviation * kCiderDeviation));
    double sum = 0;
    for (size_t n = 0; n < kCiderOrders; ++n) {
      double product = 0;
      for (const auto& [gram, count] : output.counts[n]) {
        const auto found = reference.counts[n].find(gram);
        if (found == reference.counts[n].end()) continue;
        const double weight = weight_of(gram);
        product += std::min(count, found->second) * weight * found->second * weight;
      }
      const double norms = norm(output.counts[n]) * norm(reference.counts[n]);
      if (norms > 0) sum += nearness * product / norms;
    }
    return kCiderScale * sum / double(kCiderOrders);
  }

 private:
  double weight_of(const std::string& gram) const {
    const auto found = occurrences_.find(gram);
    return std::log(pictures_ / (found == occurrences_.end() ? 1 : found->second));
  }
  double norm(const std::map<std::string, double>& counts) const {
    double squares = 0;
    for (const auto& [gram, count] : counts) squares += std::pow(count * weight_of(gram), 2);
    return std::sqrt(squares);
  }

  Occurrences occurrences_;
  double pictures_;
};

std::vector<Words> reference_words(const References& references) {
  std::vector<Words> words;
  for (const std::string& reference : references) words.push_back(caption_words(reference));
  return words;
}

}  // namespace

Words caption_words(const std::string& text) {
  Words words;
  for (const std::string& token : tokenise_13a(text)) {
    Symbols characters = code_points(token);
    if (!std::ranges::any_of(characters, is_letter_or_digit)) continue;
    for (int64_t& character : characters) character = lowered(character);
    words.push_back(utf8(characters));
  }
  return words;
}

double rouge_l(std::span<const std::string> outputs, std::span<const References> references) {
  check_references(outputs.size(), references);
  double sum = 0;
  for (size_t row = 0; row < outputs.size(); ++row)
    sum += rouge_of(caption_words(outputs[row]), reference_words(references[row]));
  return sum / double(outputs.size());
}

double cider(std::span<const std::string> outputs, std::span<const References> references) {
  check_references(outputs.size(), references);
  std::vector<std::vector<CountedCaption>> counted;
  Occurrences occurrences;
  for (const References& of_picture : references) {
    std::set<std::string> there;
    std::vector<CountedCaption>& own = counted.emplace_back();
    for (const Words& words : reference_words(of_picture)) {
      own.push_back({ngrams_of(words), double(words.size())});
      for (const auto& order : own.back().counts)
        for (const auto& [gram, count] : order) there.insert(gram);
    }
    for (const std::string& gram : there) ++occurrences[gram];
  }
  const Cider measure(std::move(occurrences), references.size());
  double sum = 0;
  for (size_t row = 0; row < outputs.size(); ++row) {
    const Words words = caption_words(outputs[row]);
    const CountedCaption output{ngrams_of(words), double(words.size())};
    double own = 0;
    for (const CountedCaption& reference : counted[row])
      own += measure.similarity(output, reference);
    sum += own / double(counted[row].size());
  }
  return sum / double(outputs.size());
}

}  // namespace fovea
