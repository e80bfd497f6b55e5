// A network whose answers follow a rule over the units that are there, and whose probabilities
// follow another: how far the answer's falls without each unit.
#pragma once

#include <functional>
#include <vector>

#include "fovea/tensor/predictor.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/fake_predictor.h"

namespace fovea {

using Away = std::vector<bool>;

struct RulePredictor : Predictor {
  std::function<bool(const Away&)> says_yes;
  std::vector<double> falls;  // of the probability, without each unit
  size_t written = 0;         // units that the output adds to the axis

  std::vector<Prediction> predict(std::span<const Example> examples) const override {
    std::vector<Prediction> predictions;
    for (const Example& example : examples) {
      Prediction& prediction = predictions.emplace_back();
      prediction.scores =
          says_yes(away_of(example)) ? torch::tensor({0.0, 1.0}) : torch::tensor({1.0, 0.0});
    }
    return predictions;
  }

  at::Tensor replay_batch(std::span<const Example> examples, std::span<const Prediction>,
                          Tap& tap) const override {
    std::vector<double> probabilities;
    for (const Example& example : examples) {
      const Away away = away_of(example);
      double probability = 0.99;
      for (size_t i = 0; i < away.size(); ++i)
        if (away[i]) probability -= falls[i];
      probabilities.push_back(probability);
    }
    const auto units = int64_t(falls.size()), rows = int64_t(examples.size());
    tap.report(dense_map("attention", "", "units", torch::full({rows, 1, 1, units}, 1.0 / units)));
    return torch::tensor(probabilities, torch::kDouble).log().unsqueeze(1);  // [B, 1]
  }

  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "units") return Predictor::erase(example, axis, units);
    Example left = example;
    at::Tensor& away = left.tensors.at("away");
    away = away.clone();
    for (const int64_t unit : units) away[unit] = true;
    return left;
  }

  Example describe_output(const Example& example, const Prediction&) const override {
    Example described = example;
    for (Axis& axis : described.axes)
      if (axis.name == "units") axis.labels.resize(axis.labels.size() + written, "written");
    return described;
  }

  /// An example with a name for each unit.
  Example example(const std::vector<std::string>& names) const {
    Example whole = example_with({{"letters", {"a", "b"}}, {"units", names}});
    whole.tensors["away"] = torch::zeros({int64_t(names.size())}, torch::kBool);
    return whole;
  }

 private:
  static Away away_of(const Example& example) {
    const at::Tensor& away = example.tensors.at("away");
    Away list;
    for (int64_t i = 0; i < away.size(0); ++i) list.push_back(away[i].item<bool>());
    return list;
  }
};

}  // namespace fovea
