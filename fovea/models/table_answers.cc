#include "fovea/models/table_answers.h"

#include "fovea/base/error.h"
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

}  // namespace fovea
