// What the tensors of BERT and its kin are called in Hugging Face's files: weight_names.h. A family
// is a row of the table in bert_names.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/models/weight_names.h"
#include "fovea/nn/transformer/bert_encoder.h"

namespace fovea {

/// How transformers calls a family of encoders and the parts of it.
struct EncoderFamily {
  const char* model_type;  // of config.json
  const char* class_name;  // in front of its classes: BertForMaskedLM
  const char* prefix;      // in front of the encoder's tensors, where there is a head
  const char* layer;       // then its number, from 0
  const char *query, *key, *value, *output, *first_norm, *up, *down, *last_norm;
  const char *pooler, *classifier;  // of a classifier of whole texts
  const char* choice_pooler;        // of multiple choice, whose classifier is called that
  const char *masked_dense, *masked_norm, *masked_bias;
  const char *masked_table, *masked_table_bias;  // tied: copies of others; the latter may be null
};
std::span<const EncoderFamily> encoder_families();
/// Internal, unless there is one with this model_type.
const EncoderFamily& encoder_family(const std::string& model_type);
/// The family whose networks compute what these options say. Unsupported where there is none.
const EncoderFamily& family_of(const BertOptions& options);

/// What stands on an encoder.
enum class EncoderHead { None, MaskedWords, Class, Tags, Answer, Choice };

/// What the family's pooler is called under this head.
const char* pooler_name(const EncoderFamily& family, EncoderHead head);

/// Of BERT or its kin, by model_type. Their pooler is where a classifier has it, unless the head is
/// another one.
std::vector<WeightNames> encoder_names(const BertOptions& options, int64_t vocabulary,
                                       const std::string& family = "bert",
                                       EncoderHead head = EncoderHead::None);
std::vector<WeightNames> masked_head_names(const BertOptions& options, int64_t vocabulary,
                                           const std::string& family = "bert");
std::vector<WeightNames> next_head_names(int64_t hidden);
/// "output", of so many numbers.
std::vector<WeightNames> output_head_names(EncoderHead head, int64_t hidden, int64_t numbers,
                                           const std::string& family = "bert");

/// A name as files of today have it: without the family's name in front, and with weight and bias
/// where old ones say gamma and beta.
std::string hugging_face_name(const std::string& name);

}  // namespace fovea
