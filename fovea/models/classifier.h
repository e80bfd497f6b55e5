// What all models share that give a row one class, several labels or a number:
//   class   p = softmax(logits)    loss  -log p(class), the mean over the rows, each weighted by
//   its
//                                        class
//   labels  p = sigmoid(logits)    loss  binary cross entropy, the mean over rows and labels, the
//                                        rows that have a label weighted by it
//   number  v = the one logit      loss  (v - target)^2, or one that outliers move less
#pragma once

#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/models/model.h"
#include "fovea/tensor/answer_kind.h"

namespace fovea {

/// Adds model.class_weights: none, or balanced.
void describe_class_weights(OptionList& list, std::string& class_weights);
/// Adds model.loss, of numbers: squared, huber or absolute.
void describe_number_loss(OptionList& list, std::string& loss);

/// `balanced` weights a class by N / (C n_c): it counts as much as any other, with all its rows.
/// [C]; undefined, all rows alike, for `none` and where `class_counts`, the training rows of each
/// class, is empty.
at::Tensor class_weights_of(const std::string& class_weights,
                            const std::vector<int64_t>& class_counts);

/// Of several labels: `balanced` weights the rows that have a label by (N - n_c) / n_c, at most
/// 100, so that they count as much as those that have it not. [C], or undefined.
at::Tensor label_weights_of(const std::string& class_weights,
                            const std::vector<int64_t>& label_counts, int64_t rows);

/// What is learned, and how.
struct ClassifierTarget {
  AnswerKind kind = AnswerKind::Class;
  std::string class_weights = "none";
  std::vector<int64_t> class_counts = {};  // training rows of each class or label
  int64_t rows = 0;                        // of training, of several labels
  std::string loss = "squared";            // of a number
};

class Classifier : public Model {
 public:
  explicit Classifier(const std::string& class_weights = "none",
                      const std::vector<int64_t>& class_counts = {});
  explicit Classifier(const ClassifierTarget& target);
  AnswerKind kind() const { return kind_; }

  Loss loss(const Batch& batch, const StepContext& context) override;
  /// scores [B, C], of a number values [B, 1]
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of the class or label that was likeliest when it was predicted, or the number:
  /// [B, 1].
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 protected:
  /// [B, C]; C is 1 for a number. `random` is null where nothing is dropped.
  virtual at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const = 0;
  /// "target", as the kind has it: class numbers [B], 0 or 1 [B, C], numbers [B].
  TensorSchema target_schema(int64_t classes) const;
  /// The output's bias before training, where the rows are known: the log-odds of each label, so
  /// that no step is spent on how rare they are. 0 otherwise. [C]
  void initialise_bias(at::Tensor bias) const;
  /// "output (softmax)", for summary().
  std::string output_name(const std::string& more = "") const;

 private:
  at::Tensor number_loss(const at::Tensor& values, const at::Tensor& target) const;

  AnswerKind kind_ = AnswerKind::Class;
  std::string number_loss_ = "squared";
  at::Tensor weights_;   // [C] of classes or labels, or undefined: all alike
  at::Tensor log_odds_;  // [C] of labels, or undefined
};

}  // namespace fovea
