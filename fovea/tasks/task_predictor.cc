#include "fovea/tasks/task_predictor.h"

#include "fovea/core/error.h"
#include "fovea/core/torch.h"

namespace fovea {

namespace {

constexpr size_t kRowsAtOnce = 256;  // bounds the memory of a large file of inputs

/// Owns the untrained model that it answers with.
struct RandomisedPredictor : BorrowedPredictor {
  RandomisedPredictor(const Task& task, std::unique_ptr<Model> model)
      : BorrowedPredictor(task, *model), owned(std::move(model)) {}
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
    const Predictions answers = model().predict(task().collate(some).to(model().device()));
    for (size_t row = 0; row < some.size(); ++row) predictions.push_back(answers.at(int64_t(row)));
  }
  task().finish(model(), examples, predictions);
  return predictions;
}

at::Tensor TaskPredictor::replay_batch(std::span<const Example> examples,
                                       std::span<const Prediction> predictions, Tap& tap) const {
  require(examples.size() == predictions.size() && !examples.empty(), ErrorKind::InvalidArgument,
          "replay of ", examples.size(), " examples with ", predictions.size(), " predictions");
  const Batch batch = task().collate(examples).to(model().device());
  return model().replay(batch, side_by_side(predictions), &tap);  // [B, U]
}

Example TaskPredictor::describe_output(const Example& example, const Prediction& prediction) const {
  return task().describe_output(example, prediction);
}

Example TaskPredictor::erase(const Example& example, const std::string& axis,
                             std::span<const int64_t> units) const {
  return task().erase(example, axis, units);
}

std::unique_ptr<Predictor> TaskPredictor::randomised(uint64_t seed) const {
  std::unique_ptr<Model> untrained = task().make_model();
  untrained->initialise(Random(seed).split("randomised"));
  untrained->to(model().device());
  untrained->eval();
  return std::make_unique<RandomisedPredictor>(task(), std::move(untrained));
}

}  // namespace fovea
