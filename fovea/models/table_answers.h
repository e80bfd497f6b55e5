// What all networks for tables share: the loss of their outputs, and outputs as answers.
#pragma once

#include "fovea/kernels/tabular_net/tabular_net.h"
#include "fovea/models/model.h"

namespace fovea {

/// outputs [B, O], target [B]: O is 1 for two classes (its logit) and for a number.
Loss table_loss(const at::Tensor& outputs, const at::Tensor& target, kernels::TabularLoss loss);

/// Probabilities [B, C] of classes, or values [B, 1].
Predictions table_predictions(const at::Tensor& outputs, kernels::TabularLoss loss);

/// What replay() returns: the value, or the log-probability of the class that was likeliest when it
/// was predicted. [B, 1]
at::Tensor table_replay(const at::Tensor& outputs, const Predictions& predictions,
                        kernels::TabularLoss loss);

}  // namespace fovea
