// Low-rank adapters of a language model (attention/low_rank.h), alone, in the files that PEFT reads
// and writes:
//   adapter_config.json         r, lora_alpha, target_modules, base_model_name_or_path, …
//   adapter_model.safetensors   base_model.model.….lora_A.weight [r, in] and lora_B.weight [out, r]
// The network that they stand beside is found by base_model_name_or_path: a Hugging Face folder, a
// run, or adapters again, which are then merged. A relative path is meant from the adapters' own
// folder, else from the working directory. docs/formats/hugging-face.md lists what is refused.
#pragma once

#include <filesystem>

#include "fovea/tasks/language_folder.h"

namespace fovea {

/// Where the base of these adapters lies. NotFound when it is not there.
std::filesystem::path base_of(const std::filesystem::path& adapter);
/// The first network below them that is no folder of adapters. BadData when they stand on each
/// other in a circle.
std::filesystem::path network_below(const std::filesystem::path& adapter);

/// The base and, beside it, the adapters; PretrainedLanguage::options has their rank.
PretrainedLanguage read_adapter(const std::filesystem::path& folder, const LanguageReading& how);
/// The base alone, of a folder of adapters or of a run with adapters.
PretrainedLanguage read_base(const std::filesystem::path& adapter, const LanguageReading& how);
/// What a run with adapters holds, with the weights of its base.
void add_base(PretrainedLanguage& run, const std::filesystem::path& path,
              const LanguageReading& how);
/// W + (alpha / r) B A in place of W, A and B. Does nothing where there are none.
void merge_adapters(PretrainedLanguage& model);

/// adapter_config.json and adapter_model.safetensors. `options` is whole.
void write_adapter_config(const std::filesystem::path& folder, const LanguageModelOptions& options,
                          const std::filesystem::path& base);
void write_adapter_weights(const std::filesystem::path& folder, const LanguageModelOptions& options,
                           const WeightMap& weights);
/// Both, with the tokeniser, of a model that was read without merging. InvalidArgument when it has
/// no adapters, or when the folder holds some already.
void write_adapter(const std::filesystem::path& folder, const PretrainedLanguage& model);

}  // namespace fovea
