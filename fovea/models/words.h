// A bag of words and bigrams with attention; no recurrence, fitted in seconds.
//   a_u     exp(s_u) / sum of exp(s) over the different units u of the document
//   logits  b + g sum_u a_u v_u,     g = sum_u exp(s_u) / |exp(s)|
// models/classifier.h makes answers and a loss of the logits: a class, several labels, a number.
// g keeps long texts from being averaged to nothing: the document is a vector of length 1, as
// tf-idf has it. fit() starts the weights exp(s) at sqrt(idf |log-count ratio|), after Wang and
// Manning 2012 (NBSVM), of a number at idf, and finds the values v by logistic regression, of
// labels one against the rest, of a number by ridge regression; training then moves all of them.
// The sum is over words: a bigram's weight and value belong half to each of its words. So what a
// word adds to a logit is its weight times its value, exactly.
#pragma once

#include <string>
#include <vector>

#include "fovea/models/classifier.h"
#include "fovea/models/logistic_regression.h"

namespace fovea {

struct WordsOptions {
  std::string name = "words";
  double bigram_weight = 0.7;
  double c = 0;  // 0: by the validation rows
  std::string class_weights = "none";
  std::string loss = "squared";  // of a number
  void describe(OptionList& list);
};

/// What the data decides.
struct WordsShape {
  int64_t units = 0;  // words and bigrams; 0 is padding
  int64_t classes = 2;
  std::vector<int64_t> class_counts = {};
  std::vector<bool> is_bigram = {};  // [units]; empty: none is
  AnswerKind kind = AnswerKind::Class;
  int64_t rows = 0;  // of training
};

class Words : public Classifier {
 public:
  Words(WordsOptions options, WordsShape shape);
  const WordsOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  /// From what the training rows count: values are 1 for every unit of a document. The penalty is
  /// the best one of a few for the validation rows, or model.c.
  void fit(SparseClasses train, SparseClasses validation);

  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;

 protected:
  /// Map "words" [B, 1, 1, W], from the document to its words, and "contributions" of the words to
  /// the logit of the likeliest class or label, or to the number.
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;

 private:
  at::Tensor logits_by_word(const at::Tensor& weights, const at::Tensor& values,
                            const at::Tensor& norm, Tap* tap) const;

  WordsOptions options_;
  WordsShape shape_;
  at::Tensor scores_;  // s [V, 1]
  at::Tensor values_;  // v [V, C]
  at::Tensor bias_;    // b [C]
};

}  // namespace fovea
