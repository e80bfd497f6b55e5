// What the tensors of BERT are called in Hugging Face's files, and how large they are: the one
// table that reading and writing such files go by. There queries, keys and values are three
// matrices; here they are one (in_proj). Nothing is rounded: each way round trips bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/nn/transformer/bert_encoder.h"

namespace fovea {

using WeightMap = std::map<std::string, at::Tensor>;
using WeightShapes = std::map<std::string, std::vector<int64_t>>;

/// One tensor of ours.
struct WeightNames {
  std::string ours;                 // as BertEncoder and BertPretrainer have it
  std::vector<std::string> theirs;  // one below the other they are ours
  std::vector<int64_t> shape;       // of each of theirs
};

std::vector<WeightNames> encoder_names(const BertOptions& options, int64_t vocabulary);
std::vector<WeightNames> masked_head_names(int64_t hidden, int64_t vocabulary);
std::vector<WeightNames> next_head_names(int64_t hidden);

/// A name as files of today have it: without "bert." in front, and with weight and bias where old
/// ones say gamma and beta.
std::string hugging_face_name(const std::string& name);

/// Of all theirs.
WeightShapes shapes_of(std::span<const WeightNames> names);

/// Ours in float32 from theirs, and theirs from ours. What is not there is left out.
WeightMap from_hugging_face(std::span<const WeightNames> names, const WeightMap& theirs);
WeightMap to_hugging_face(std::span<const WeightNames> names, const WeightMap& ours);

}  // namespace fovea
