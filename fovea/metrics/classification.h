// How well classes were told apart. Scores are probabilities: [N] or [N, 1] for two classes (of
// class 1), [N, C] for several; targets are class numbers [N] of any dtype. Everything is computed
// in double precision.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fovea {

/// The chosen class of each row [N], int64: score >= 0.5 for two classes, else the largest. A row
/// that holds a NaN chose nothing: -1.
at::Tensor predicted_classes(const at::Tensor& scores);

/// The same of two classes, [N]: class 1 from `threshold` on.
at::Tensor predicted_classes(const at::Tensor& scores, double threshold);

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

/// Mean over the classes that occur of the share of their rows that were found: accuracy as it
/// would be if all classes were equally frequent. Row = target, column = predicted, [C, C].
double balanced_accuracy(const at::Tensor& confusion);

/// One class of a confusion matrix. 0 where nothing was predicted, or nothing is there.
struct ClassReport {
  double precision = 0, recall = 0, f1 = 0;
  int64_t support = 0;  // rows whose target it is
};
std::vector<ClassReport> class_reports(const at::Tensor& confusion);

/// Mean over the classes of auc() of one against the rest; of two classes that of class 1. Classes
/// that no row or every row has are left out. Not defined when that leaves none.
std::optional<double> macro_auc(const at::Tensor& scores, const at::Tensor& targets);

/// Scores of class 1 beside what is right, sorted once: for statistics of many resamples, in each
/// of which row i counts times[i] times.
class RankedScores {
 public:
  RankedScores(const at::Tensor& scores, const at::Tensor& targets);
  std::optional<double> auc(std::span<const double> times) const;
  std::optional<double> average_precision(std::span<const double> times) const;

 private:
  std::vector<double> scores_;   // falling
  std::vector<int64_t> rows_;    // where each was
  std::vector<char> positives_;  // whether it is of class 1
};

}  // namespace fovea
