// What tensors are called in Hugging Face's files, and how large they are: the one description that
// reading and writing such files go by. Several of theirs may be one of ours (queries, keys and
// values are in_proj here), and GPT-2's matrices lie the other way round. Nothing is rounded: each
// way round trips bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace fovea {

using WeightMap = std::map<std::string, at::Tensor>;
using WeightShapes = std::map<std::string, std::vector<int64_t>>;

/// One tensor of ours.
struct WeightNames {
  std::string ours;
  std::vector<std::string> theirs;           // one below the other they are ours
  std::vector<std::vector<int64_t>> shapes;  // of each of theirs, as it stands in the file
  bool transposed = false;                   // [in, out] there, [out, in] here
};

/// `ours`.weight [out, in] and, with `bias`, `ours`.bias.
void add_linear(std::vector<WeightNames>& names, const std::string& ours, const std::string& theirs,
                int64_t out, int64_t in, bool bias = true, bool transposed = false);

/// `ours`.weight and .bias of a norm, each [width].
void add_layer_norm(std::vector<WeightNames>& names, const std::string& ours,
                    const std::string& theirs, int64_t width);

/// Of all theirs.
WeightShapes shapes_of(std::span<const WeightNames> names);

/// Ours from theirs, in float32, and theirs from ours. What is not there is left out. `as_stored`:
/// matrices keep the type that they have, and lie where they lay, as far as they are the same.
WeightMap from_hugging_face(std::span<const WeightNames> names, const WeightMap& theirs,
                            bool as_stored = false);
WeightMap to_hugging_face(std::span<const WeightNames> names, const WeightMap& ours);

}  // namespace fovea
