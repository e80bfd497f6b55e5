// Precision and recall are averaged over the orders that both sides are long enough for, then
// combined; of several references the one that scores best counts.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/metrics/characters.h"
#include "fovea/metrics/ngrams.h"
#include "fovea/metrics/references.h"
#include "fovea/metrics/translation.h"

namespace fovea {
namespace {

/// Of one order, summed over the corpus.
struct Matches {
  int64_t output = 0, reference = 0, common = 0;
};

bool is_punctuation(int64_t c) {  // of ASCII
  return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') ||
         (c > 'z' && c < 127);
}

Symbols without_white_space(const Symbols& text) {
  Symbols result = text;
  std::erase_if(result, is_white_space);
  return result;
}

/// One mark is taken off a word, from its end before its beginning: "(hi)" gives "(hi" and ")".
std::vector<Symbols> words_and_marks(const Symbols& text) {
  std::vector<Symbols> words;
  for (const Symbols& word : split_words(text)) {
    auto cut = word.end();
    if (word.size() > 1 && is_punctuation(word.back()))
      cut = word.end() - 1;
    else if (word.size() > 1 && is_punctuation(word.front()))
      cut = word.begin() + 1;
    words.emplace_back(word.begin(), cut);
    if (cut != word.end()) words.emplace_back(cut, word.end());
  }
  return words;
}

/// Words as symbols: equal words have equal numbers within these texts.
std::vector<Symbols> numbered_words(std::span<const Symbols> texts) {
  std::vector<std::vector<Symbols>> words;
  std::vector<Symbols> all;
  for (const Symbols& text : texts) {
    words.push_back(words_and_marks(text));
    all.insert(all.end(), words.back().begin(), words.back().end());
  }
  std::ranges::sort(all);
  std::vector<Symbols> numbered(texts.size());
  for (size_t t = 0; t < texts.size(); ++t)
    for (const Symbols& word : words[t])
      numbered[t].push_back(std::lower_bound(all.begin(), all.end(), word) - all.begin());
  return numbered;
}

Matches match(const std::vector<int64_t>& output, const std::vector<int64_t>& reference) {
  Matches result;
  for (size_t gram = 0; gram < output.size(); ++gram) {
    result.output += output[gram];
    result.reference += reference[gram];
    result.common += std::min(output[gram], reference[gram]);
  }
  // An order that the reference is too short for says nothing about the output.
  if (result.reference == 0) result.output = 0;
  return result;
}

/// 0 ... 100.
double f_score(std::span<const Matches> orders, double beta) {
  double precision = 0, recall = 0, counted = 0;
  for (const Matches& order : orders) {
    if (order.output == 0 || order.reference == 0) continue;
    precision += double(order.common) / double(order.output);
    recall += double(order.common) / double(order.reference);
    ++counted;
  }
  if (precision + recall == 0) return 0;
  precision /= counted;
  recall /= counted;
  const double weight = beta * beta;
  return 100 * (1 + weight) * precision * recall / (weight * precision + recall);
}

/// Characters first, then words.
std::vector<Matches> best_matches(const std::string& output, const References& references,
                                  const ChrfOptions& options) {
  std::vector<Symbols> texts = {code_points(output)};  // the output first, then its references
  for (const std::string& reference : references) texts.push_back(code_points(reference));
  std::vector<Symbols> characters;
  for (const Symbols& text : texts) characters.push_back(without_white_space(text));

  std::vector<GramCounts> orders = count_ngrams(characters, options.characters);
  if (options.words > 0) {
    const std::vector<GramCounts> words = count_ngrams(numbered_words(texts), options.words);
    orders.insert(orders.end(), words.begin(), words.end());
  }
  std::vector<Matches> best;
  double best_score = -1;
  for (size_t r = 1; r < texts.size(); ++r) {
    std::vector<Matches> matches;
    for (const GramCounts& counts : orders) matches.push_back(match(counts[0], counts[r]));
    const double score = f_score(matches, options.beta);
    if (score <= best_score) continue;
    best_score = score;
    best = std::move(matches);
  }
  return best;
}

void check_chrf_options(const ChrfOptions& options) {
  require(options.characters >= 0 && options.words >= 0 && options.characters + options.words > 0,
          ErrorKind::InvalidArgument, "chrF needs n-grams of at least one order, found ",
          options.characters, " of characters and ", options.words, " of words");
  require(options.beta > 0, ErrorKind::InvalidArgument, "chrF's beta must be above 0, found ",
          options.beta);
}

}  // namespace

double corpus_chrf(std::span<const std::string> outputs, std::span<const References> references,
                   const ChrfOptions& options) {
  check_chrf_options(options);
  check_references(outputs.size(), references);
  std::vector<Matches> sums(size_t(options.characters + options.words));
  for (size_t row = 0; row < outputs.size(); ++row) {
    const std::vector<Matches> matches = best_matches(outputs[row], references[row], options);
    for (size_t n = 0; n < sums.size(); ++n) {
      sums[n].output += matches[n].output;
      sums[n].reference += matches[n].reference;
      sums[n].common += matches[n].common;
    }
  }
  return f_score(sums, options.beta);
}

double sentence_chrf(const std::string& output, const References& references,
                     const ChrfOptions& options) {
  check_chrf_options(options);
  check_references(1, {&references, 1});
  return f_score(best_matches(output, references, options), options.beta);
}

}  // namespace fovea
