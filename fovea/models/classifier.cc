#include "fovea/models/classifier.h"

#include "fovea/base/text.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void describe_class_weights(OptionList& list, std::string& class_weights) {
  list.add("class_weights", class_weights,
           "none: every row counts the same; balanced: every class does")
      .choices({"none", "balanced"});
}

void describe_number_loss(OptionList& list, std::string& loss) {
  list.add("loss", loss,
           "for a number: squared error, or one that outliers move less: huber, absolute")
      .choices({"squared", "huber", "absolute"});
}

Tensor class_weights_of(const std::string& class_weights,
                        const std::vector<int64_t>& class_counts) {
  if (class_weights != "balanced" || class_counts.empty()) return {};
  const Tensor rows = torch::tensor(class_counts, at::kDouble);  // [C]
  const Tensor weights = rows.sum() / (rows.clamp_min(1) * double(class_counts.size()));
  return weights.to(at::kFloat);
}

Tensor label_weights_of(const std::string& class_weights, const std::vector<int64_t>& label_counts,
                        int64_t rows) {
  constexpr double kMost = 100;  // a label that few rows have must not drown all others
  if (class_weights != "balanced" || label_counts.empty() || rows == 0) return {};
  const Tensor have = torch::tensor(label_counts, at::kDouble).clamp_min(1);  // [C]
  return ((double(rows) - have) / have).clamp(1 / kMost, kMost).to(at::kFloat);
}

Classifier::Classifier(const std::string& class_weights, const std::vector<int64_t>& class_counts)
    : Classifier(ClassifierTarget{AnswerKind::Class, class_weights, class_counts}) {}

Classifier::Classifier(const ClassifierTarget& target)
    : kind_(target.kind), number_loss_(target.loss) {
  if (kind_ == AnswerKind::Class)
    weights_ = class_weights_of(target.class_weights, target.class_counts);
  if (kind_ != AnswerKind::Labels) return;
  weights_ = label_weights_of(target.class_weights, target.class_counts, target.rows);
  if (weights_.defined() || target.class_counts.empty() || target.rows == 0) return;
  const Tensor have = torch::tensor(target.class_counts, at::kDouble) + 0.5;  // [C]
  log_odds_ = (have / (double(target.rows) + 1 - have)).log().to(at::kFloat);
}

void Classifier::initialise_bias(Tensor bias) const {
  torch::NoGradGuard no_gradients;
  if (log_odds_.defined())
    bias.copy_(log_odds_);
  else
    bias.zero_();
}

TensorSchema Classifier::target_schema(int64_t classes) const {
  if (kind_ == AnswerKind::Labels) return {"target", at::kFloat, {-1, classes}};
  return {"target", kind_ == AnswerKind::Class ? at::kLong : at::kFloat, {-1}};
}

std::string Classifier::output_name(const std::string& more) const {
  const char* kind = kind_ == AnswerKind::Class    ? "softmax"
                     : kind_ == AnswerKind::Labels ? "sigmoid"
                                                   : "number";
  return concat("output (", kind, more.empty() ? "" : ", ", more, ")");
}

Tensor Classifier::number_loss(const Tensor& values, const Tensor& target) const {
  if (number_loss_ == "huber") return torch::huber_loss(values, target);
  return number_loss_ == "absolute" ? torch::l1_loss(values, target)
                                    : torch::mse_loss(values, target);
}

Loss Classifier::loss(const Batch& batch, const StepContext& context) {
  const Tensor logits = logits_of(batch, &context.random, nullptr);  // [B, C]
  const Tensor& target = batch.at("target");
  Loss loss;
  if (kind_ == AnswerKind::Number) {
    loss.objective = number_loss(logits.squeeze(1), target.to(logits.scalar_type()));
    return loss;
  }
  Tensor own = weights_;  // [C]
  if (own.defined()) own = own.to(logits.device(), logits.scalar_type());
  if (kind_ == AnswerKind::Labels) {
    loss.objective = torch::binary_cross_entropy_with_logits(
        logits, target.to(logits.scalar_type()), /*weight=*/{}, /*pos_weight=*/own);
    return loss;
  }
  if (own.defined()) {
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
  const Tensor logits = logits_of(batch, nullptr, nullptr);  // [B, C]
  if (kind_ == AnswerKind::Number)
    predictions.values = logits;
  else
    predictions.scores = kind_ == AnswerKind::Class ? logits.softmax(1) : logits.sigmoid();
  return predictions;
}

Tensor Classifier::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor logits = logits_of(batch, nullptr, tap);
  if (kind_ == AnswerKind::Number) return logits;
  const Tensor best = predictions.scores.argmax(1, /*keepdim=*/true).to(logits.device());
  const Tensor log_p =
      kind_ == AnswerKind::Class ? logits.log_softmax(1) : torch::log_sigmoid(logits);
  return log_p.gather(1, best);
}

}  // namespace fovea
