#include "fovea/models/classifier.h"

#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void describe_class_weights(OptionList& list, std::string& class_weights) {
  list.add("class_weights", class_weights,
           "none: every row counts the same; balanced: every class does")
      .choices({"none", "balanced"});
}

Tensor class_weights_of(const std::string& class_weights,
                        const std::vector<int64_t>& class_counts) {
  if (class_weights != "balanced" || class_counts.empty()) return {};
  const Tensor rows = torch::tensor(class_counts, at::kDouble);  // [C]
  const Tensor weights = rows.sum() / (rows.clamp_min(1) * double(class_counts.size()));
  return weights.to(at::kFloat);
}

Classifier::Classifier(const std::string& class_weights, const std::vector<int64_t>& class_counts)
    : class_weights_(class_weights_of(class_weights, class_counts)) {}

Loss Classifier::loss(const Batch& batch, const StepContext& context) {
  const Tensor logits = logits_of(batch, &context.random, nullptr);  // [B, C]
  const Tensor& target = batch.at("target");
  Loss loss;
  if (class_weights_.defined()) {
    const Tensor own = class_weights_.to(logits.device(), logits.scalar_type());
    loss.objective = at::cross_entropy_loss(logits, target, own);
    loss.units = own.index_select(0, target).sum();
  } else {
    loss.objective = at::cross_entropy_loss(logits, target);
  }
  return loss;
}

Predictions Classifier::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  Predictions predictions;
  predictions.scores = logits_of(batch, nullptr, nullptr).softmax(1);
  return predictions;
}

Tensor Classifier::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor logits = logits_of(batch, nullptr, tap);
  const Tensor best = predictions.scores.argmax(1, /*keepdim=*/true).to(logits.device());
  return logits.log_softmax(1).gather(1, best);
}

}  // namespace fovea
