// Where the pieces of a number begin and end: the thresholds of a small decision tree on the target
// of the training rows, grown best-first by the gain in variance (a number, two classes) or in Gini
// impurity (several classes), completed by quantiles where the tree finds too little. After
// Gorishniy et al. 2022, "On Embeddings for Numerical Features in Tabular Deep Learning".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

/// What the tree is grown on: one value for each training row.
struct SplitTarget {
  std::span<const double> values = {};    // numbers, standardised; two classes as 0 and 1
  std::span<const int32_t> classes = {};  // several classes
  int64_t class_count = 0;                // 0: there are `values`
};

/// The values without their extremes, at least one on each side where there are 20 rows: what lies
/// beyond is an outlier.
struct UsualRange {
  double low = 0, high = 0;
};

/// The range of ascending values, at least one.
UsualRange usual_range(std::span<const double> sorted);

/// Ascending edges b_0 … b_T of at most `bins` pieces; T may be 0. Few different values become the
/// edges themselves. `values` has one number for each row of the target; NaN is missing.
std::vector<double> fit_edges(std::span<const double> values, const SplitTarget& target,
                              int64_t bins);

}  // namespace fovea
