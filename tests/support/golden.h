// Golden numbers: JSON written by the scripts in tests/golden, as tensors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

inline Json golden(const std::string& name) {
  return read_json_file(std::string(FOVEA_TEST_FILES) + "/golden/" + name + ".json");
}

/// Nested lists of numbers as a tensor.
inline at::Tensor tensor_of(const Json& json, at::ScalarType type = at::kFloat) {
  std::vector<int64_t> shape;
  for (const Json* level = &json; level->is_array(); level = &level->front())
    shape.push_back(int64_t(level->size()));
  std::vector<double> values;
  const std::function<void(const Json&)> flatten = [&](const Json& level) {
    if (level.is_boolean()) return values.push_back(level.get<bool>() ? 1 : 0);
    if (!level.is_array()) return values.push_back(level.get<double>());
    for (const Json& item : level) flatten(item);
  };
  flatten(json);
  return torch::tensor(values, at::kDouble).view(shape).to(type);
}

/// A tensor of a golden file: {"shape": […], "data": […]}.
inline at::Tensor packed(const Json& json, at::ScalarType type = at::kDouble) {
  return tensor_of(json.at("data"), type).view(json.at("shape").get<std::vector<int64_t>>());
}

/// Every parameter by name, in float64; the two lists of names must be the same.
inline void set_parameters(torch::nn::Module& module, const Json& parameters) {
  torch::NoGradGuard no_gradients;
  module.to(at::kDouble);
  EXPECT_EQ(module.named_parameters().size(), parameters.size());
  for (auto& item : module.named_parameters())
    item.value().copy_(packed(parameters.at(item.key())));
}

inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs().max().item<double>();
}

/// The largest |a - b| of some results, relative to the largest number of each, or to `least`.
inline double worst_difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b,
                               double least = 1) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].numel() == 0) continue;
    const double scale = std::max(least, b[i].abs().max().item<double>());
    worst = std::max(worst, (a[i] - b[i]).abs().max().item<double>() / scale);
  }
  return worst;
}

}  // namespace fovea::testing
