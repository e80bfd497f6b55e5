// Folders as Hugging Face's transformers writes them for BERT and its kin (RoBERTa, XLM-R,
// DistilBERT, ELECTRA), with their heads: masked words, classes, tags, answers to questions.
//   config.json         model_type, the sizes, the names of classes or tags
//   *.safetensors       the weights in float32, float16 or bfloat16 (hugging_face_folder.h)
//   tokenizer.json      of any kind; or vocab.txt, one piece a line, with tokenizer_config.json
// docs/formats/hugging-face.md lists what is read, what is ignored and what is refused.
#pragma once

#include <filesystem>

#include "fovea/tasks/hugging_face_folder.h"
#include "fovea/tasks/pretrained.h"

namespace fovea {

/// Everything is widened to float32. The head that the architecture names must be there; others are
/// named in the notes. BadData names all
/// tensors that are missing, unknown or of another shape at once; Unsupported for another
/// architecture, naming it.
PretrainedBert read_hugging_face(const std::filesystem::path& folder);

/// Writes config.json, model.safetensors (float32), tokenizer.json, its config and, of BERT's own
/// tokeniser, vocab.txt.
/// Reading them back gives the same bits. InvalidArgument when the folder holds a config.json
/// already.
void write_hugging_face(const std::filesystem::path& folder, const PretrainedBert& bert);

}  // namespace fovea
