// A language model that was trained before: what `--from` begins with, what a Hugging Face folder
// of GPT-2, Llama, Mistral or Qwen2 holds, what a run gives away. docs/formats/hugging-face.md
// lists what is read and what is refused.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/hugging_face/tokeniser.h"
#include "fovea/models/language_model.h"
#include "fovea/models/weight_names.h"

namespace fovea {

struct PretrainedLanguage {
  LanguageModelOptions options;  // whole
  std::shared_ptr<const HuggingFaceTokeniser> tokeniser;
  int64_t vocabulary = 0;          // rows of the embedding, as many as the tokeniser has at least
  std::vector<int64_t> ends;       // tokens after which nothing comes
  WeightMap weights;               // as LanguageModel names them, float32
  std::vector<std::string> notes;  // what was left out, one sentence each
};

/// From a Hugging Face folder, or from a run of the task language. NotFound, BadData and
/// Unsupported say what is wrong, all tensors that do not fit at once.
PretrainedLanguage read_language(const std::filesystem::path& run_or_folder);

/// The sizes of `start`. InvalidArgument when `options` asks for others; dropout stays as it is.
void take_sizes(LanguageModelOptions& options, const PretrainedLanguage& start);
/// Its weights into a model of these sizes.
void take_weights(Model& model, const PretrainedLanguage& start);

/// Writes config.json, generation_config.json, model.safetensors (float32), tokenizer.json and its
/// config, as GPT2LMHeadModel or LlamaForCausalLM. InvalidArgument when the folder holds a
/// config.json already.
void write_language(const std::filesystem::path& folder, const PretrainedLanguage& model);

/// Assets of a run.
inline constexpr const char *kTokeniserAsset = "tokenizer.json", *kLanguageAsset = "language.json";

}  // namespace fovea
