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
  int64_t begin = -1;              // the token that begins a text; -1: none is named
  int64_t padding = -1;            // the token that fills up; -1: none is named
  WeightMap weights;               // as LanguageModel names them
  std::vector<std::string> notes;  // what was left out, one sentence each
  std::filesystem::path path;      // where it was read
  std::filesystem::path base;      // of low-rank adapters: the network that they stand beside
};

struct LanguageReading {
  /// As the files have them: matrices in their own type, views of the mapped file as far as they
  /// are the same; else all is float32.
  bool as_stored = false;
  /// Low-rank adapters become part of the weights that they stand beside; else they are further
  /// weights, and options.lora_rank is theirs.
  bool merges = true;
  std::vector<std::filesystem::path> chain = {};  // adapters that led here
};

/// From a Hugging Face folder, from a folder of low-rank adapters (language_adapter.h) or from a
/// run of the task language. NotFound, BadData and Unsupported say what is wrong, all tensors that
/// do not fit at once.
PretrainedLanguage read_language(const std::filesystem::path& run_or_folder,
                                 const LanguageReading& how = {});

/// The sizes of `start`, and its adapters where it has some. InvalidArgument when `options` asks
/// for other sizes; dropout stays as it is.
void take_sizes(LanguageModelOptions& options, const PretrainedLanguage& start);
/// Its weights into a model of these sizes, those that the model has not adopted.
void take_weights(Model& model, const PretrainedLanguage& start);

/// Writes config.json, generation_config.json, model.safetensors (float32), tokenizer.json and its
/// config, as GPT2LMHeadModel or LlamaForCausalLM. InvalidArgument when the folder holds a
/// config.json already.
void write_language(const std::filesystem::path& folder, const PretrainedLanguage& model);

/// Assets of a run.
inline constexpr const char *kTokeniserAsset = "tokenizer.json", *kLanguageAsset = "language.json";

}  // namespace fovea
