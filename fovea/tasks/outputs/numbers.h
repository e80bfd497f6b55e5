// A number: {"value": 3.5}, in the unit of the target.
#pragma once

#include <functional>
#include <string>

#include "fovea/tasks/outputs/output.h"

namespace fovea {

/// loss, which is the mean squared error, mae in the unit of the target and, where it is defined,
/// r2. Values are encoded: target = deviation * value + mean.
Metrics number_metrics(const at::Tensor& values, const at::Tensor& target, double deviation = 1);

class NumberOutput : public OutputKind {
 public:
  struct Target {
    std::string name;
    double mean = 0, deviation = 1;
  };

  /// `target` as the encodings know it.
  explicit NumberOutput(std::function<Target()> target) : target_(std::move(target)) {}

  /// Of rows whose columns are resident.
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;

 private:
  std::function<Target()> target_;
};

}  // namespace fovea
