#include "fovea/models/class_loss.h"

#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void describe_class_weights(OptionList& list, std::string& class_weights) {
  list.add("class_weights", class_weights,
           "none: every row counts the same; balanced: every class does")
      .choices({"none", "balanced"});
}

Tensor weights_of_classes(const std::string& class_weights, const std::vector<int64_t>& counts) {
  if (class_weights != "balanced" || counts.empty()) return {};
  const Tensor rows = torch::tensor(counts, at::kDouble);  // [C]
  const Tensor weights = rows.sum() / (rows.clamp_min(1) * double(counts.size()));
  return weights.to(at::kFloat);
}

Loss class_loss(const Tensor& logits, const Tensor& target, const Tensor& weights) {
  Loss loss;
  if (weights.defined()) {
    const Tensor own = weights.to(logits.device(), logits.scalar_type());
    loss.objective = at::cross_entropy_loss(logits, target, own);
    loss.units = own.index_select(0, target).sum();
  } else {
    loss.objective = at::cross_entropy_loss(logits, target);
  }
  return loss;
}

Tensor log_probability_of(const Predictions& predictions, const Tensor& logits) {
  const Tensor best = predictions.scores.argmax(1, /*keepdim=*/true).to(logits.device());
  return logits.log_softmax(1).gather(1, best);
}

}  // namespace fovea
