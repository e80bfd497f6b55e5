// What all networks for tables share: the loss of their outputs, and outputs as answers. A network
// may hold an ensemble of K members; each learns on its own, and their answers are averaged.
#pragma once

#include "fovea/base/options.h"
#include "fovea/kernels/tabular_net/tabular_net.h"
#include "fovea/models/model.h"
#include "fovea/models/table_shape.h"

namespace fovea {

/// outputs [B, O], target [B]: O is 1 for two classes (its logit) and for a number.
Loss table_loss(const at::Tensor& outputs, const at::Tensor& target, kernels::TabularLoss loss);

/// Probabilities [B, C] of classes, or values [B, 1].
Predictions table_predictions(const at::Tensor& outputs, kernels::TabularLoss loss);

/// What replay() returns: the value, or the log-probability of the class that was likeliest when it
/// was predicted. [B, 1]
at::Tensor table_replay(const at::Tensor& outputs, const Predictions& predictions,
                        kernels::TabularLoss loss);

/// What the columns of a table add up to: the value, or log p / (1 - p) of the class that was
/// likeliest when it was predicted. [B, 1]
at::Tensor log_odds_or_value(const at::Tensor& outputs, const Predictions& predictions,
                             kernels::TabularLoss loss);

/// What is minimised; keys under model.
struct TableLossOptions {
  std::string loss = "squared";  // of numbers: squared, huber, absolute or quantile
  double quantile = 0.5;         // of the loss `quantile`
  std::string class_weights = "none";
  void describe(OptionList& list);
};

class TableLoss {
 public:
  TableLoss(const TableLossOptions& options, const FeatureShape& shape);

  /// The mean over rows and members. outputs [B, K, O], target [B]
  Loss operator()(const at::Tensor& outputs, const at::Tensor& target) const;

 private:
  at::Tensor number_loss(const at::Tensor& outputs, const at::Tensor& target) const;

  TableLossOptions options_;
  kernels::TabularLoss kind_;
  at::Tensor class_weights_;  // [C], or undefined: all alike
};

/// The outputs whose answers are the mean of the members' answers: numbers, or probabilities.
/// [B, K, O] -> [B, O]
at::Tensor mean_of_members(const at::Tensor& outputs, kernels::TabularLoss loss);

}  // namespace fovea
