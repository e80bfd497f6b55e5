#include "fovea/tasks/task_predictor.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr size_t kRowsAtOnce = 64;  // what a search keeps of them should stay in the caches

int64_t size_of(const Example& example) {
  int64_t numbers = 0;
  for (const auto& [name, tensor] : example.tensors) numbers += tensor.numel();
  return numbers;
}

/// Similar lengths together, so that little is padding; the longest first, so that no thread is
/// left alone with them at the end.
std::vector<size_t> longest_first(std::span<const Example> examples) {
  std::vector<size_t> order(examples.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    return size_of(examples[left]) > size_of(examples[right]);
  });
  return order;
}

/// Owns the untrained model that it answers with.
struct RandomisedPredictor : BorrowedPredictor {
  RandomisedPredictor(const Task& task, std::unique_ptr<Model> model)
      : BorrowedPredictor(task, *model), owned(std::move(model)) {}

  /// What is sampled it chooses itself: the trained network's choices say nothing about this one.
  at::Tensor replay_batch(std::span<const Example> examples,
                          std::span<const Prediction> predictions, Tap& tap) const override {
    std::vector<Prediction> own(predictions.begin(), predictions.end());
    if (own.empty() || !own[0].actions.defined())
      return BorrowedPredictor::replay_batch(examples, predictions, tap);
    const std::vector<Prediction> chosen = predict(examples);
    for (size_t i = 0; i < own.size(); ++i)
      if (chosen[i].actions.sizes() == own[i].actions.sizes()) own[i].actions = chosen[i].actions;
    return BorrowedPredictor::replay_batch(examples, own, tap);
  }
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
  std::vector<Prediction> predictions(examples.size());
  const std::vector<size_t> order = longest_first(examples);
  const auto answer = [&](int64_t batch) {
    stop_if_asked();
    const torch::NoGradGuard no_gradients;
    const size_t begin = size_t(batch) * kRowsAtOnce;
    const auto rows = std::span(order).subspan(begin, std::min(kRowsAtOnce, order.size() - begin));
    std::vector<Example> some;
    for (const size_t row : rows) some.push_back(examples[row]);
    const Predictions answers = model().predict(task().collate(some).to(model().device()));
    std::vector<Prediction> finished;
    for (size_t i = 0; i < rows.size(); ++i) finished.push_back(answers.at(int64_t(i)));
    task().finish(model(), some, finished);
    for (size_t i = 0; i < rows.size(); ++i) predictions[rows[i]] = std::move(finished[i]);
  };
  const auto batches = int64_t((examples.size() + kRowsAtOnce - 1) / kRowsAtOnce);
  if (model().device().is_cpu())
    run_parallel(batches, answer);
  else
    for (int64_t batch = 0; batch < batches; ++batch) answer(batch);
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
