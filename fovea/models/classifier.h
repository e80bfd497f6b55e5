// What all models share that give a row one class:
//   p     softmax(logits)
//   loss  -log p(class), the mean over the rows, each weighted by its class
#pragma once

#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/models/model.h"

namespace fovea {

/// Adds model.class_weights: none, or balanced.
void describe_class_weights(OptionList& list, std::string& class_weights);

/// `balanced` weights a class by N / (C n_c): it counts as much as any other, with all its rows.
/// [C]; undefined, all rows alike, for `none` and where `class_counts`, the training rows of each
/// class, is empty.
at::Tensor class_weights_of(const std::string& class_weights,
                            const std::vector<int64_t>& class_counts);

class Classifier : public Model {
 public:
  explicit Classifier(const std::string& class_weights = "none",
                      const std::vector<int64_t>& class_counts = {});

  Loss loss(const Batch& batch, const StepContext& context) override;
  /// scores [B, C]
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of the class that was likeliest when it was predicted: [B, 1].
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 protected:
  /// [B, C]. `random` is null where nothing is dropped.
  virtual at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const = 0;

 private:
  at::Tensor class_weights_;  // [C], or undefined: all alike
};

}  // namespace fovea
