// What the tensors of decoder-only networks are called in Hugging Face's files: weight_names.h.
#pragma once

#include <string>
#include <vector>

#include "fovea/models/language_model.h"
#include "fovea/models/weight_names.h"

namespace fovea {

/// Of GPT2LMHeadModel or of LlamaForCausalLM and its kin, as options.name says. `options` is whole.
std::vector<WeightNames> language_names(const LanguageModelOptions& options, int64_t vocabulary);

}  // namespace fovea
