// A small network whose every measure can be computed by hand: unit k of the input x brings
//   output_u = bias + sum_k mean over heads of A[u, k] * effect[k] * x[k],
// as a number, or as a probability where x and effect are such that it is one. Erasing sets x to 0.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/predictor.h"
#include "fovea/tensor/torch.h"

namespace fovea {

struct LinearPredictor : Predictor {
  at::Tensor attention;  // [H, Q, K]
  at::Tensor effect;     // [K]
  double bias = 0;
  MapKind kind = MapKind::Distribution;
  bool numbers = true;  // else probabilities
  bool rows_are_outputs = false;
  bool step_by_step = false;  // the rows are reported one after the other
  bool uses_weights = true;   // else the output takes the map as it was, whatever the tap says
  bool weights_follow_input = false;  // they have gradients of their own, but always these values
  bool erasable = true, has_leaves = true, has_untrained = true;
  at::Tensor untrained;  // [H, Q, K], of randomised()
  std::vector<int64_t> unit_of;
  std::vector<at::Tensor>* used_weights = nullptr;  // of each replay [B, H, Q, K], where wanted
  struct Counts {
    std::atomic<int64_t> rows = 0, calls = 0, most_rows = 0, calls_with_graph = 0;
  };
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();  // of replays

  LinearPredictor(const at::Tensor& weights, const at::Tensor& effects)
      : attention(weights.dim() == 1 ? weights.view({1, 1, -1}) : weights), effect(effects) {}

  std::vector<Prediction> predict(std::span<const Example> examples) const override {
    Prediction prediction;
    (numbers ? prediction.values : prediction.scores) = torch::ones({1});
    return std::vector<Prediction>(examples.size(), prediction);
  }

  at::Tensor replay_batch(std::span<const Example> examples, std::span<const Prediction>,
                          Tap& tap) const override {
    count(static_cast<int64_t>(examples.size()));
    std::vector<at::Tensor> inputs;
    for (const Example& example : examples) inputs.push_back(example.tensors.at("x"));
    at::Tensor x = torch::stack(inputs);                // [B, K]
    if (has_leaves) x = tap.leaf("units", x, unit_of);  // [B, K]
    at::Tensor own = attention.unsqueeze(0).expand({x.size(0), -1, -1, -1}).clone();
    if (weights_follow_input)
      own = own * (5 * (x - x.detach()).flip(1)).exp().unsqueeze(1).unsqueeze(1);
    const at::Tensor used = report(own, tap);  // [B, H, Q, K]
    if (used_weights) used_weights->push_back(used.detach());
    const at::Tensor weights = (uses_weights ? used : own).mean(1);             // [B, Q, K]
    at::Tensor outputs = (weights * (effect * x).unsqueeze(1)).sum(-1) + bias;  // [B, Q]
    if (!rows_are_outputs) outputs = outputs.mean(1, /*keepdim=*/true);         // [B, 1]
    return numbers ? outputs : outputs.log();
  }

  Example describe_output(const Example& example, const Prediction&) const override {
    Example described = example;
    Axis axis{"rows", "token", {}};
    axis.labels.resize(static_cast<size_t>(attention.size(1)), "r");
    axis.output = rows_are_outputs;
    described.axes.push_back(axis);
    return described;
  }

  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (!erasable) return Predictor::erase(example, axis, units);
    Example erased = example;
    at::Tensor x = example.tensors.at("x").clone();
    for (const int64_t unit : units) x[unit] = 0;
    erased.tensors["x"] = x;
    return erased;
  }

  std::unique_ptr<Predictor> randomised(uint64_t) const override {
    if (!has_untrained) return nullptr;
    auto other =
        std::make_unique<LinearPredictor>(untrained.defined() ? untrained : attention, effect);
    other->numbers = numbers;
    other->rows_are_outputs = rows_are_outputs;
    return other;
  }

 private:
  at::Tensor report(const at::Tensor& weights, Tap& tap) const {
    AttentionMap map;
    map.name = "attention";
    map.query_axis = "rows";
    map.key_axis = "units";
    map.kind = kind;
    map.weights = weights;
    if (!step_by_step) return tap.report(map);
    StepTap steps(tap);
    std::vector<at::Tensor> used;
    for (int64_t row = 0; row < weights.size(2); ++row) {
      map.weights = weights.narrow(2, row, 1);
      used.push_back(steps.report(map));
    }
    steps.finish();
    return torch::cat(used, 2);
  }

  void count(int64_t batch) const {
    counts->rows += batch;
    ++counts->calls;
    counts->most_rows = std::max<int64_t>(counts->most_rows, batch);
    if (torch::GradMode::is_enabled()) ++counts->calls_with_graph;
  }
};

inline at::Tensor to_numbers(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

inline Example example_of(const std::vector<double>& x) {
  Example example;
  example.tensors["x"] = to_numbers(x);
  Axis axis{"units", "token", {}};
  axis.labels.resize(x.size(), "u");
  example.axes.push_back(axis);
  return example;
}

}  // namespace fovea
