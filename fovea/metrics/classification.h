// How well classes were told apart. Scores are probabilities: [N] or [N, 1] for two classes (of
// class 1), [N, C] for several; targets are class numbers [N] of any dtype. Everything is computed
// in double precision.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace fovea {

/// The chosen class of each row [N], int64: score >= 0.5 for two classes, else the largest. A row
/// that holds a NaN chose nothing: -1.
at::Tensor predicted_classes(const at::Tensor& scores);

/// Share of rows whose chosen class is the target.
double accuracy(const at::Tensor& scores, const at::Tensor& targets);

/// Mean of -ln p(target) in nats. Probabilities are clamped to [1e-7, 1 - 1e-7], the resolution of
/// single precision, so that one confident mistake costs 16.1 nats and not infinity.
double log_loss(const at::Tensor& scores, const at::Tensor& targets);

/// Area under the ROC curve from ranks (Mann-Whitney): the chance that a row of class 1 scores
/// above a row of class 0, ties counted as one half. `scores` [N] may be any numbers, `targets` [N]
/// are 0 or 1. Not defined with one class only or with NaN scores.
std::optional<double> auc(const at::Tensor& scores, const at::Tensor& targets);

/// Counts [C, C], int64: row = target, column = predicted. Both arguments are class numbers [N].
at::Tensor confusion_matrix(const at::Tensor& predicted, const at::Tensor& targets,
                            int64_t classes);

/// Mean over classes of 2 TP / (2 TP + FP + FN). Classes that neither occur nor are predicted are
/// left out.
double macro_f1(const at::Tensor& predicted, const at::Tensor& targets, int64_t classes);

}  // namespace fovea
