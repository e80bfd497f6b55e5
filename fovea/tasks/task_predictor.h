// A task and a model of it as a Predictor: what explain/ and serving/ may know of them. Who has
// both only says where they are.
#pragma once

#include "fovea/tasks/task.h"
#include "fovea/tensor/predictor.h"

namespace fovea {

class TaskPredictor : public Predictor {
 public:
  virtual const Task& task() const = 0;
  virtual const Model& model() const = 0;

  std::vector<Prediction> predict(std::span<const Example> examples) const override;
  at::Tensor replay_batch(std::span<const Example> examples,
                          std::span<const Prediction> predictions, Tap& tap) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::unique_ptr<Predictor> randomised(uint64_t seed) const override;
};

/// Of a task and a model that belong to somebody else and outlive it.
class BorrowedPredictor : public TaskPredictor {
 public:
  BorrowedPredictor(const Task& task, const Model& model) : task_(task), model_(model) {}
  const Task& task() const override { return task_; }
  const Model& model() const override { return model_; }

 private:
  const Task& task_;
  const Model& model_;
};

}  // namespace fovea
