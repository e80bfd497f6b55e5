// A task and a model of it as a Predictor: what explain/ may know of them.
#pragma once

#include "fovea/core/predictor.h"
#include "fovea/tasks/task.h"

namespace fovea {

class TaskPredictor : public Predictor {
 public:
  /// Both must outlive this object.
  TaskPredictor(const Task& task, const Model& model) : task_(task), model_(model) {}

  std::vector<Prediction> predict(std::span<const Example> examples) const override;
  at::Tensor replay_batch(std::span<const Example> examples,
                          std::span<const Prediction> predictions, Tap& tap) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::unique_ptr<Predictor> randomised(uint64_t seed) const override;

 private:
  const Task& task_;
  const Model& model_;
};

}  // namespace fovea
