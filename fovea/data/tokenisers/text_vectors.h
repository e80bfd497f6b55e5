// Word vectors learned from the user's own texts, without labels: words with the same neighbours
// get similar vectors, so that a word which the labelled rows never held resembles some that they
// did.
//   M[w, (d, c)]  max(0, log(p(w, c at d) / (p(w) p'(c at d)))), d in -2, -1, 1, 2; c a frequent
//   word
//                 positive pointwise mutual information, p'(c) as count^0.75   (Levy et al. 2015)
//   M ~ U S V^T   by subspace iteration (Halko et al. 2011)
//   vector of w   row w of U S^0.5, scaled to unit variance; and how often the texts have the word
//                 in any case, in lower case and with a capital
// Neighbours count by their position: this tells names from verbs, and persons from places. The
// case tells a name also where somebody writes it in lower case.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/data/tokenisers/vocabulary.h"
#include "fovea/tensor/random.h"

namespace fovea {

constexpr int64_t kNeighbourNumbers = 100, kCaseNumbers = 3;
constexpr int64_t kTextVectorSize = kNeighbourNumbers + kCaseNumbers;

/// Sentences of words, in which each word is a number.
class WordSequences {
 public:
  static constexpr int32_t kGap =
      -1;  // two of them end a sentence: nobody is a neighbour over them

  void add(const std::vector<std::string>& sentence);
  /// Words in all.
  int64_t size() const { return words_in_all_; }
  const std::vector<std::string>& words() const { return words_; }  // the different ones
  const std::vector<int64_t>& counts() const { return counts_; }    // of each
  const std::vector<int32_t>& numbers() const { return numbers_; }

 private:
  std::vector<std::string> words_;
  std::vector<int64_t> counts_;
  std::vector<int32_t> numbers_{kGap, kGap};
  std::unordered_map<std::string, int32_t> number_of_;
  int64_t words_in_all_ = 0;
};

struct TextVectors {
  Vocabulary words;    // seen often enough
  at::Tensor vectors;  // float [words, kTextVectorSize]; 0 for the special symbols

  /// The number of a word, else of the word in lower case or with a capital, else of those without
  /// a mark in front (#, @); kUnknown where none is there.
  static int64_t find(const Vocabulary& words, const std::string& word);
};

constexpr int64_t kTextVectorIterations = 3;
constexpr int64_t kTextVectorSteps = 2 * kTextVectorIterations + 3;

/// The same bits at any number of threads. Calls `step` kTextVectorSteps times. BadData when no
/// word was seen often enough.
TextVectors learn_text_vectors(const WordSequences& texts, const Random& random,
                               const std::function<void()>& step = {});

}  // namespace fovea
