// Weights of BERT under the names that Hugging Face's files use, and back. There queries, keys and
// values are three matrices; here they are one (in_proj). Nothing is rounded: each way round trips
// bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

namespace fovea {

using WeightMap = std::map<std::string, at::Tensor>;

/// Of the encoder with so many layers: ours ("encoder.layers.0.self_attn.in_proj_weight") from
/// theirs ("encoder.layer.0.attention.self.query.weight", …, with or without "bert." in front). Old
/// files call the norms' parameters gamma and beta. Takes what it uses out of `theirs` and names in
/// `missing` what it did not find.
WeightMap bert_from_hugging_face(WeightMap& theirs, int64_t layers,
                                 std::vector<std::string>& missing);

/// Theirs from ours, with `prefix` ("" or "bert.") in front.
WeightMap bert_to_hugging_face(const WeightMap& ours, int64_t layers, const std::string& prefix);

}  // namespace fovea
