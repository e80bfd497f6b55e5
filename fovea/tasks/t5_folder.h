// A T5 that was trained before: what `--from` begins with, what a Hugging Face folder of T5,
// Flan-T5 or mT5 holds, what a run gives away. docs/formats/hugging-face.md lists what is read and
// what is refused.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/pairs/load.h"
#include "fovea/models/t5.h"
#include "fovea/models/weight_names.h"

namespace fovea {

struct PretrainedT5 {
  T5Options options;  // whole
  PairTokenisers tokenisers;
  WeightMap weights;  // as T5 names them, float32
  std::string where;  // the folder
};

/// From a Hugging Face folder, or from a run with model.name=t5. NotFound, BadData and Unsupported
/// say what is wrong, all tensors that do not fit at once.
PretrainedT5 read_t5(const std::filesystem::path& run_or_folder);

/// The sizes of `start`. InvalidArgument when `options` asks for others than `defaults` has;
/// dropout and label smoothing stay as they are.
void take_sizes(T5Options& options, const T5Options& defaults, const PretrainedT5& start);

/// Writes config.json, generation_config.json, model.safetensors (float32), tokenizer.json and its
/// config, as T5ForConditionalGeneration. Unsupported for what transformers does not have: other
/// tokenisers than a tokenizer.json, heads that were taken out. InvalidArgument when the folder
/// holds a config.json already.
void write_t5(const std::filesystem::path& folder, const PretrainedT5& model);

}  // namespace fovea
