// Whether probabilities of a rare outcome can be acted on: does the ranking find those who have it,
// and does it happen as often as was said? Scores are probabilities of class 1, [N]; targets are 0
// or 1, [N]. Everything is computed in double precision.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace fovea {

/// Mean of the precision at each row of class 1 that is found when the rows are taken by falling
/// score: sum over thresholds of (recall - recall before) precision, rows of equal score at once.
/// A ranking by chance has the share of class 1. Not defined without rows of class 1 or with NaN.
std::optional<double> average_precision(const at::Tensor& scores, const at::Tensor& targets);

/// Brier 1950: the mean of (p - y)^2. 0 is right and sure, 0.25 is "one half" for everybody.
double brier_score(const at::Tensor& scores, const at::Tensor& targets);

/// What was said and what happened, for the rows whose score lies in one of `bins` equal parts of
/// 0 … 1.
struct CalibrationBin {
  int64_t rows = 0;
  double said = 0;      // mean score
  double happened = 0;  // share of class 1
};
std::vector<CalibrationBin> calibration_bins(const at::Tensor& scores, const at::Tensor& targets,
                                             int64_t bins = 10);

/// Naeini et al. 2015: the mean over rows of |said - happened| of their bin.
double expected_calibration_error(const at::Tensor& scores, const at::Tensor& targets,
                                  int64_t bins = 10);

/// The same three of several classes: probabilities [N, C], class numbers [N]. Of two classes they
/// are those of class 1; else the mean over classes of the average precision of one against the
/// rest, the mean over rows of the squared distance to the right answer (summed over classes, Brier
/// 1950), and the calibration error of the chosen class (Guo et al. 2017).
std::optional<double> macro_average_precision(const at::Tensor& scores, const at::Tensor& targets);
double brier_score_of_classes(const at::Tensor& scores, const at::Tensor& targets);
double calibration_error_of_classes(const at::Tensor& scores, const at::Tensor& targets,
                                    int64_t bins = 10);

}  // namespace fovea
