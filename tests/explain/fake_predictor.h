// A predictor that reports the maps it was given.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/tensor/predictor.h"
#include "fovea/tensor/torch.h"

namespace fovea {

class FakePredictor : public Predictor {
 public:
  std::vector<Prediction> predict(std::span<const Example> examples) const override {
    return std::vector<Prediction>(examples.size(), prediction);
  }
  /// One example at a time: its maps are [1, H, Q, K].
  at::Tensor replay_batch(std::span<const Example> examples, std::span<const Prediction>,
                          Tap& tap) const override {
    for (const AttentionMap& map : maps_for ? maps_for(examples[0]) : maps) tap.report(map);
    return torch::zeros({int64_t(examples.size()), 1});
  }

  Example describe_output(const Example& example, const Prediction&) const override {
    Example described = example;
    for (Axis axis : output_axes) {
      axis.output = true;
      described.axes.push_back(axis);
    }
    return described;
  }

  Prediction prediction{torch::tensor({0.2, 0.8}), {}, {}, {}};
  std::vector<AttentionMap> maps;
  std::vector<Axis> output_axes;
  std::function<std::vector<AttentionMap>(const Example&)> maps_for;
};

inline AttentionMap dense_map(const std::string& name, const std::string& query_axis,
                              const std::string& key_axis, const at::Tensor& weights,
                              MapKind kind = MapKind::Distribution) {
  AttentionMap map;
  map.name = name;
  map.query_axis = query_axis;
  map.key_axis = key_axis;
  map.kind = kind;
  map.weights = weights;
  return map;
}

inline Example example_with(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& axes) {
  Example example;
  for (const auto& [name, labels] : axes) {
    Axis axis;
    axis.name = name;
    axis.labels = labels;
    example.axes.push_back(axis);
  }
  return example;
}

}  // namespace fovea
