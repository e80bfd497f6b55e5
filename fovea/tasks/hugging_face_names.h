// What the tensors of a Hugging Face folder of BERT are called and how large they are.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/models/bert_pretrainer.h"

namespace fovea {

using WeightShapes = std::map<std::string, std::vector<int64_t>>;

/// Without "bert." in front, and with weight and bias where old files say gamma and beta.
std::string hugging_face_name(const std::string& name);

/// Every tensor of the encoder.
WeightShapes encoder_shapes(const BertOptions& options, int64_t vocabulary);

/// One of the heads of pretraining.
struct HeadNames {
  bool is_masked = true;                     // of masked words, else of next sentence
  std::map<std::string, std::string> names;  // ours -> theirs
};
std::span<const HeadNames> head_names();
WeightShapes head_shapes(const HeadNames& head, int64_t hidden, int64_t vocabulary);

}  // namespace fovea
