// What a network learns of a number y, so that a few huge ones (prices, counts) do not decide all:
//   none      z = (y - mean) / deviation
//   log       z = (log(y + shift) - mean) / deviation     shift: 0, or 1 where y can be 0
//   quantile  z = the normal score of y's rank, Phi^-1(F(y)), linear between knots and beyond them
// Every one grows with y, so that the median and quantiles of y are those of z.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "fovea/base/json_field.h"

namespace fovea {

class TargetTransform {
 public:
  /// From the training numbers, which are not all the same. `name` is auto, none, log or quantile;
  /// auto: log for numbers that are above 0 and very skewed, else none. BadData, beginning with
  /// `subject`, for the logarithm of numbers below 0.
  static TargetTransform fit(const std::string& name, std::span<const double> numbers,
                             const std::string& subject);

  Json to_json() const;
  static TargetTransform from_json(const Field& field);

  const std::string& name() const { return name_; }
  bool is_none() const { return name_ == "none"; }
  /// NaN for a number without a logarithm.
  double encode(double value) const;
  /// Numbers in the target's own unit, float64. [N] -> [N]
  at::Tensor decode(const at::Tensor& encoded) const;
  /// The same of what a network predicts: at most one deviation beyond the training numbers, since
  /// a logarithm that is a little too large is a number that is much too large.
  at::Tensor decode_prediction(const at::Tensor& encoded) const;

 private:
  double transform(double value) const;  // before it is standardised

  std::string name_ = "none";
  double mean_ = 0, deviation_ = 1;  // of what is standardised
  double shift_ = 0;                 // log
  std::vector<double> knots_;        // quantile: numbers, ascending,
  std::vector<double> scores_;       // and the normal scores of their ranks, ascending
  double low_ = 0, high_ = 0;        // encoded, of the training numbers
};

}  // namespace fovea
