#include "fovea/models/table_answers.h"

#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/models/classifier.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using kernels::TabularLoss;

Loss table_loss(const at::Tensor& outputs, const at::Tensor& target, TabularLoss loss) {
  switch (loss) {
    case TabularLoss::BinaryCrossEntropy:
      return {torch::binary_cross_entropy_with_logits(outputs.squeeze(1), target), {}};
    case TabularLoss::CrossEntropy:
      return {torch::cross_entropy_loss(outputs, target), {}};
    case TabularLoss::SquaredError:
      return {torch::mse_loss(outputs.squeeze(1), target), {}};
  }
  fail(ErrorKind::Internal, "unknown loss");
}

Predictions table_predictions(const at::Tensor& outputs, TabularLoss loss) {
  Predictions predictions;
  if (loss == TabularLoss::SquaredError)
    predictions.values = outputs;
  else if (loss == TabularLoss::CrossEntropy)
    predictions.scores = torch::softmax(outputs, 1);
  else
    predictions.scores =
        torch::cat({torch::sigmoid(-outputs), torch::sigmoid(outputs)}, 1);  // [B, 2]
  return predictions;
}

at::Tensor table_replay(const at::Tensor& outputs, const Predictions& predictions,
                        TabularLoss loss) {
  if (loss == TabularLoss::SquaredError) return outputs;
  const at::Tensor log_scores =
      loss == TabularLoss::CrossEntropy
          ? torch::log_softmax(outputs, 1)
          : torch::cat({torch::log_sigmoid(-outputs), torch::log_sigmoid(outputs)}, 1);  // [B, C]
  return log_scores.gather(1,
                           predictions.scores.argmax(1, /*keepdim=*/true).to(log_scores.device()));
}

at::Tensor log_odds_or_value(const at::Tensor& outputs, const Predictions& predictions,
                             TabularLoss loss) {
  if (loss == TabularLoss::SquaredError) return outputs;
  const at::Tensor answer =
      predictions.scores.argmax(1, /*keepdim=*/true).to(outputs.device());         // [B, 1]
  if (loss == TabularLoss::BinaryCrossEntropy) return outputs * (2 * answer - 1);  // [B, 1]
  const at::Tensor others =
      outputs.scatter(1, answer, -std::numeric_limits<double>::infinity());  // [B, C]
  return outputs.gather(1, answer) - others.logsumexp(1, /*keepdim=*/true);  // [B, 1]
}

void TableLossOptions::describe(OptionList& list) {
  list.add("loss", loss,
           "for a number: squared error, or one that outliers move less: huber, absolute, or the "
           "loss of a quantile")
      .choices({"squared", "huber", "absolute", "quantile"});
  list.add("quantile", quantile, "which quantile model.loss=quantile predicts").above(0).below(1);
  describe_class_weights(list, class_weights);
}

TableLoss::TableLoss(const TableLossOptions& options, const FeatureShape& shape)
    : options_(options),
      kind_(shape.loss),
      class_weights_(class_weights_of(options.class_weights, shape.class_counts)) {}

Loss TableLoss::operator()(const at::Tensor& outputs, const at::Tensor& target) const {
  const int64_t members = outputs.size(1);
  if (kind_ == TabularLoss::SquaredError)
    return {number_loss(outputs.squeeze(2), target.unsqueeze(1).expand({-1, members})), {}};
  at::Tensor weights = class_weights_;
  if (weights.defined()) weights = weights.to(outputs.device(), outputs.scalar_type());
  Loss loss;
  if (kind_ == TabularLoss::BinaryCrossEntropy) {
    at::Tensor of_rows;  // [B, 1], or undefined
    if (weights.defined()) of_rows = weights.index_select(0, target.to(torch::kInt64)).unsqueeze(1);
    const at::Tensor losses = torch::binary_cross_entropy_with_logits(
        outputs.squeeze(2), target.unsqueeze(1).expand({-1, members}), {}, {},
        at::Reduction::None);  // [B, K]
    loss.objective = of_rows.defined()
                         ? (losses * of_rows).sum() / (of_rows.sum() * double(members))
                         : losses.mean();
    if (of_rows.defined()) loss.units = of_rows.sum();
    return loss;
  }
  loss.objective =
      torch::cross_entropy_loss(outputs.flatten(0, 1), target.repeat_interleave(members), weights);
  if (weights.defined()) loss.units = weights.index_select(0, target).sum();
  return loss;
}

at::Tensor TableLoss::number_loss(const at::Tensor& outputs, const at::Tensor& target) const {
  if (options_.loss == "huber") return torch::huber_loss(outputs, target);
  if (options_.loss == "absolute") return torch::l1_loss(outputs, target);
  if (options_.loss == "squared") return torch::mse_loss(outputs, target);
  const at::Tensor above = target - outputs;
  return torch::max(above * options_.quantile, above * (options_.quantile - 1)).mean();
}

at::Tensor mean_of_members(const at::Tensor& outputs, TabularLoss loss) {
  if (outputs.size(1) == 1) return outputs.squeeze(1);
  if (loss == TabularLoss::SquaredError) return outputs.mean(1);
  // Of probabilities; the common factor 1 / K does not matter.
  if (loss == TabularLoss::CrossEntropy) return torch::logsumexp(torch::log_softmax(outputs, 2), 1);
  return torch::logsumexp(torch::log_sigmoid(outputs), 1) -
         torch::logsumexp(torch::log_sigmoid(-outputs), 1);
}

}  // namespace fovea
