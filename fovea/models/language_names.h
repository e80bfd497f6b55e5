// What the tensors of decoder-only networks are called in Hugging Face's files: weight_names.h.
#pragma once

#include <string>
#include <vector>

#include "fovea/models/language_model.h"
#include "fovea/models/weight_names.h"

namespace fovea {

/// Of GPT2LMHeadModel or of LlamaForCausalLM and its kin, as options.name says. `options` is whole.
std::vector<WeightNames> language_names(const LanguageModelOptions& options, int64_t vocabulary);

/// One low-rank adapter (attention/low_rank.h).
struct AdapterPlace {
  std::string weight;  // of ours that it stands beside: "decoder.layers.0.self_attn.in_proj_weight"
  std::string owner;   // the module that holds it: "decoder.layers.0.self_attn"
  std::string name;    // in the owner: "lora_q_proj"
  std::string theirs;  // the layer in their network: "model.layers.0.self_attn.q_proj"
  int64_t first = 0, rows = 0, in = 0;  // of the weight
};

/// Of every layer that options.lora_targets names; empty without a rank. `options` is whole.
/// InvalidArgument for a name that no layer has.
std::vector<AdapterPlace> adapter_places(const LanguageModelOptions& options);
/// What PEFT calls their tensors, base_model.model.….lora_A.weight and lora_B.weight.
std::vector<WeightNames> adapter_names(const LanguageModelOptions& options);

}  // namespace fovea
