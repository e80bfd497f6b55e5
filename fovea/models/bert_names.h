// What the tensors of BERT are called in Hugging Face's files: weight_names.h.
#pragma once

#include <string>
#include <vector>

#include "fovea/models/weight_names.h"
#include "fovea/nn/transformer/bert_encoder.h"

namespace fovea {

/// Of BERT or its kin: bert, roberta (XLM-R, too), distilbert, electra. Their pooler is where a
/// classifier has it.
std::vector<WeightNames> encoder_names(const BertOptions& options, int64_t vocabulary,
                                       const std::string& family = "bert");
std::vector<WeightNames> masked_head_names(int64_t hidden, int64_t vocabulary);
std::vector<WeightNames> next_head_names(int64_t hidden);

/// A name as files of today have it: without the family's name in front, and with weight and bias
/// where old ones say gamma and beta.
std::string hugging_face_name(const std::string& name);

}  // namespace fovea
