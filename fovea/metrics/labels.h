// How well several labels at once were told, as scikit-learn counts it. Scores [N, C] are numbers
// that rank the labels of a row, probabilities where that is said; predicted and targets [N, C] are
// 0 or 1 of any dtype. Everything is computed in double precision.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <vector>

#include "fovea/metrics/classification.h"

namespace fovea {

/// Rows of each label: that have it and were given it, were given it, have it. [C] each.
struct LabelCounts {
  at::Tensor hits, alarms, positives;
  /// 2 TP / (2 TP + FP + FN) of all labels together; 0 where nothing is there or predicted.
  double micro_f1() const;
  /// The mean of the F1 of each label. Labels that no row has or is given are left out.
  double macro_f1() const;
  std::vector<ClassReport> reports() const;
};
/// Row n counts times[n] times; empty: once.
LabelCounts count_labels(const at::Tensor& predicted, const at::Tensor& targets,
                         std::span<const double> times = {});

/// Share of the rows with exactly the right labels.
double subset_accuracy(const at::Tensor& predicted, const at::Tensor& targets);

/// Share of the labels of all rows that are wrong.
double hamming_loss(const at::Tensor& predicted, const at::Tensor& targets);

/// Mean over rows and labels of the binary cross entropy of probabilities, clamped as log_loss()
/// does it.
double label_log_loss(const at::Tensor& scores, const at::Tensor& targets);

/// Tsoumakas et al. 2010, of each row by the ranks of its labels, equal scores at the worse one:
///   label ranking average precision: the mean over the row's labels of the share of right ones
///     among those ranked as high; 1 for a row with all labels or none
///   coverage error: how far down one must go to have all labels of the row; 0 for a row with none
///   ranking loss: the share of pairs of a right and a wrong label that are in the wrong order, or
///     equal; 0 for a row with all labels or none
struct LabelRanking {
  double average_precision = 0, coverage_error = 0, ranking_loss = 0;
};
LabelRanking rank_labels(const at::Tensor& scores, const at::Tensor& targets);

/// Mean over the labels that some row has of average_precision() of its scores. Not defined where
/// there is none, or with NaN.
std::optional<double> mean_average_precision(const at::Tensor& scores, const at::Tensor& targets);

}  // namespace fovea
