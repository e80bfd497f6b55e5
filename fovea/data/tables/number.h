// A number as inputs: its value, then T piecewise-linear pieces between the edges b of edges.h:
//   z = (x - mean) / deviation,    p_t = clamp((x - b_{t-1}) / (b_t - b_{t-1}), 0, 1),  t = 1 … T
// With pieces, mean and deviation are those of the usual range, and x never goes far beyond it, so
// that an outlier ruins nothing. A value that stays as drawn is not standardised.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/data/tables/edges.h"

namespace fovea {

/// How numbers become inputs.
struct NumberFit {
  bool standardise = true;
  bool pieces = false;
  int64_t bins = 0;  // pieces at most
  SplitTarget target = {};
};

class NumberEncoding {
 public:
  /// From the training values; NaN stands for a missing one, and at least one value is there.
  static NumberEncoding fit(std::span<const double> values, const NumberFit& fit);

  Json to_json() const;
  static NumberEncoding from_json(const Field& field);

  bool is_constant() const { return constant_; }
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }
  double low() const { return low_; }    // of the training values
  double high() const { return high_; }  // likewise
  int64_t pieces() const { return std::max<int64_t>(0, int64_t(edges_.size()) - 1); }
  int64_t inputs() const { return 1 + pieces(); }
  const std::vector<double>& edges() const { return edges_; }
  const std::vector<double>& input_means() const { return means_; }  // [1 + T]
  std::vector<std::string> input_names(const std::string& name) const;

  /// Writes inputs() numbers; `inputs` holds zeros before.
  void encode(double value, float* inputs) const;
  double decode(const float* inputs) const;

 private:
  bool constant_ = false, standardised_ = true;
  double mean_ = 0, deviation_ = 1;
  double low_ = 0, high_ = 0;
  double least_ = -INFINITY, most_ = INFINITY;  // what lies beyond is taken for these
  std::vector<double> edges_;                   // [T + 1] ascending, or none
  std::vector<double> means_;                   // over the training values that are there
};

}  // namespace fovea
