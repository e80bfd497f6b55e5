// Attention for the tests of import.h.
#pragma once

#include <gtest/gtest.h>
#include <map>
#include <string>

#include "fovea/explain/import/import.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using Tensors = std::map<std::string, at::Tensor>;

/// Rows of a softmax over numbers that differ everywhere.
inline at::Tensor attention(at::IntArrayRef shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return (torch::arange(count, at::kDouble).mul(0.7).sin() * 2).reshape(shape).softmax(-1);
}

inline at::Tensor uniform(int64_t queries, int64_t keys) {
  return torch::full({queries, keys}, 1.0 / double(keys), at::kDouble);
}

inline ImportOptions with_dimensions(std::vector<std::string> dimensions) {
  ImportOptions options;
  options.dimensions = std::move(dimensions);
  return options;
}
inline const ImportOptions kHeads = with_dimensions({"heads", "queries", "keys"});

inline Explanation explain(const Tensors& tensors, const std::string& labels = "",
                           const ImportOptions& options = {}) {
  return import_weights(tensors, read_labels(labels), options);
}

inline void expect_weights(const MapView& map, const at::Tensor& expected) {
  const at::Tensor found =
      torch::tensor(map.weights, at::kDouble).view({int64_t(map.queries()), int64_t(map.keys())});
  EXPECT_TRUE(torch::equal(found, expected.to(at::kDouble))) << map.title;
}

inline bool has_note(const Explanation& explanation, const std::string& words) {
  for (const std::string& note : explanation.notes)
    if (note.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace fovea
