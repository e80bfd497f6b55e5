// Folders as Hugging Face's transformers writes them for BERT:
//   config.json         model_type "bert" and the sizes
//   *.safetensors       the weights in float32, float16 or bfloat16; one file of any name
//   vocab.txt           one piece a line, beside it tokenizer_config.json; or tokenizer.json
// docs/formats/hugging-face.md lists what is read, what is ignored and what is refused.
#pragma once

#include <filesystem>

#include "fovea/tasks/pretrained.h"

namespace fovea {

/// Whether the folder's config.json is of Hugging Face, of BERT or not.
bool is_hugging_face(const std::filesystem::path& folder);

/// Everything is widened to float32. Heads of other tasks are named in the notes. BadData names all
/// tensors that are missing, unknown or of another shape at once; Unsupported for another
/// architecture, naming it.
PretrainedBert read_hugging_face(const std::filesystem::path& folder);

/// Writes config.json, model.safetensors (float32), vocab.txt, tokenizer.json and its config.
/// Reading them back gives the same bits. InvalidArgument when the folder holds a config.json
/// already.
void write_hugging_face(const std::filesystem::path& folder, const PretrainedBert& bert);

}  // namespace fovea
