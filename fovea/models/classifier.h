// What all classifiers of texts share: the loss of a class, and what a replay reports.
//   loss  -log p(class), the mean over the rows, each weighted by its class
#pragma once

#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/models/model.h"

namespace fovea {

/// Adds model.class_weights: none, or balanced.
void describe_class_weights(OptionList& list, std::string& class_weights);

/// N / (C n_c) for `balanced`: every class counts as much as any other, with all its rows. [C];
/// undefined where all rows count the same, or nothing is known of their classes.
at::Tensor weights_of_classes(const std::string& class_weights, const std::vector<int64_t>& counts);

/// logits [B, C], target int64 [B]; weights from weights_of_classes().
Loss class_loss(const at::Tensor& logits, const at::Tensor& target, const at::Tensor& weights);

/// Log-probability of the class that was likeliest when it was predicted: [B, 1].
at::Tensor log_probability_of(const Predictions& predictions, const at::Tensor& logits);

}  // namespace fovea
