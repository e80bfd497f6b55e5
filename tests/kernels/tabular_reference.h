// The network of tabular_net.h once more: one row at a time, in double precision, as plain as
// possible.
#pragma once

#include <cmath>
#include <vector>

#include "fovea/kernels/tabular_net/tabular_net.h"

namespace fovea::kernels {

struct TabularAnswer {
  std::vector<double> outputs, attention;  // of all rows, one after the other
  double loss_sum = 0;
};

class TabularReference {
 public:
  TabularReference(const TabularShape& shape, const TabularRows& batch)
      : shape_(shape), batch_(batch) {}

  TabularAnswer run(const std::vector<double>& parameters) const {
    TabularAnswer answer;
    for (int64_t i = 0; i < batch_.count; ++i) add_row(parameters, batch_.rows[i], answer);
    return answer;
  }

  /// Central differences of the mean loss.
  std::vector<double> gradient(std::vector<double> parameters) const {
    constexpr double kStep = 1e-6;
    std::vector<double> slopes;
    for (double& parameter : parameters) {
      const double before = parameter;
      parameter = before + kStep;
      const double above = run(parameters).loss_sum;
      parameter = before - kStep;
      const double below = run(parameters).loss_sum;
      parameter = before;
      slopes.push_back((above - below) / (2 * kStep) / double(batch_.count));
    }
    return slopes;
  }

 private:
  /// W x + b; `next` moves behind the layer's parameters.
  static std::vector<double> dense(const double*& next, const std::vector<double>& x,
                                   int64_t width) {
    const auto out = static_cast<size_t>(width);
    std::vector<double> y(next + out * x.size(), next + out * x.size() + out);  // the bias
    for (size_t o = 0; o < out; ++o)
      for (const double input : x) y[o] += *next++ * input;
    next += out;
    return y;
  }

  static double log_sum_exp(const std::vector<double>& values) {
    double top = -INFINITY, total = 0;
    for (const double value : values) top = std::max(top, value);
    for (const double value : values) total += std::exp(value - top);
    return top + std::log(total);
  }

  void add_row(const std::vector<double>& parameters, int64_t row, TabularAnswer& answer) const {
    const float* begin = batch_.inputs + row * shape_.inputs;
    std::vector<double> values(begin, begin + shape_.inputs);
    const double* next = parameters.data();
    if (shape_.columns > 0) {
      const std::vector<double> logits = dense(next, values, shape_.columns);
      std::vector<double> weights;
      for (const double logit : logits) weights.push_back(std::exp(logit - log_sum_exp(logits)));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] *= weights[static_cast<size_t>(shape_.column_of_input[i])];
      answer.attention.insert(answer.attention.end(), weights.begin(), weights.end());
    }
    for (const int64_t width : shape_.hidden) {
      values = dense(next, values, width);
      for (double& value : values) value = std::max(value, 0.0);
    }
    values = dense(next, values, shape_.outputs);
    answer.outputs.insert(answer.outputs.end(), values.begin(), values.end());
    answer.loss_sum += loss(values, row);
  }

  double loss(const std::vector<double>& outputs, int64_t row) const {
    if (shape_.loss == TabularLoss::CrossEntropy)
      return log_sum_exp(outputs) - outputs[static_cast<size_t>(batch_.classes[row])];
    const double o = outputs[0], target = batch_.targets[row];
    if (shape_.loss == TabularLoss::SquaredError) return (o - target) * (o - target);
    return log_sum_exp({0, o}) - o * target;
  }

  const TabularShape& shape_;
  TabularRows batch_;
};

}  // namespace fovea::kernels
