// Golden numbers: JSON written by the scripts in tests/golden, as tensors.
#pragma once

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

inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs().max().item<double>();
}

}  // namespace fovea::testing
