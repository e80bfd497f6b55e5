#include "fovea/tasks/task_predictor.h"

#include <torch/torch.h>

#include "fovea/core/error.h"

namespace fovea {

namespace {

constexpr size_t kRowsAtOnce = 256;  // bounds the memory of a large file of inputs

/// Owns the untrained model that it answers with.
struct RandomisedPredictor : TaskPredictor {
  RandomisedPredictor(const Task& task, std::unique_ptr<Model> model)
      : TaskPredictor(task, *model), owned(std::move(model)) {}
  std::unique_ptr<Model> owned;
};

Predictions side_by_side(std::span<const Prediction> predictions) {
  const auto stacked = [&](at::Tensor Prediction::*field) {
    if (predictions.empty() || !(predictions[0].*field).defined()) return at::Tensor();
    std::vector<at::Tensor> rows;
    for (const Prediction& prediction : predictions) rows.push_back(prediction.*field);
    return torch::stack(rows);  // [B, …]
  };
  Predictions answers{stacked(&Prediction::scores),
                      stacked(&Prediction::values),
                      {},
                      stacked(&Prediction::actions)};
  for (const Prediction& prediction : predictions) answers.outputs.push_back(prediction.outputs);
  return answers;
}

}  // namespace

std::vector<Prediction> TaskPredictor::predict(std::span<const Example> examples) const {
  std::vector<Prediction> predictions;
  for (size_t begin = 0; begin < examples.size(); begin += kRowsAtOnce) {
    const auto some = examples.subspan(begin, std::min(kRowsAtOnce, examples.size() - begin));
    const Predictions answers = model_.predict(task_.collate(some).to(model_.device()));
    for (size_t row = 0; row < some.size(); ++row) predictions.push_back(answers.at(int64_t(row)));
  }
  task_.finish(model_, examples, predictions);
  return predictions;
}

at::Tensor TaskPredictor::replay_batch(std::span<const Example> examples,
                                       std::span<const Prediction> predictions, Tap& tap) const {
  require(examples.size() == predictions.size() && !examples.empty(), ErrorKind::InvalidArgument,
          "replay of ", examples.size(), " examples with ", predictions.size(), " predictions");
  const Batch batch = task_.collate(examples).to(model_.device());
  return model_.replay(batch, side_by_side(predictions), &tap);  // [B, U]
}

Example TaskPredictor::describe_output(const Example& example, const Prediction& prediction) const {
  return task_.describe_output(example, prediction);
}

Example TaskPredictor::erase(const Example& example, const std::string& axis,
                             std::span<const int64_t> units) const {
  return task_.erase(example, axis, units);
}

std::unique_ptr<Predictor> TaskPredictor::randomised(uint64_t seed) const {
  std::unique_ptr<Model> model = task_.make_model();
  model->initialise(Random(seed).split("randomised"));
  model->to(model_.device());
  model->eval();
  return std::make_unique<RandomisedPredictor>(task_, std::move(model));
}

}  // namespace fovea
