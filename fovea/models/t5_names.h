// What the tensors of T5 are called in Hugging Face's files: weight_names.h.
#pragma once

#include <vector>

#include "fovea/models/t5.h"
#include "fovea/models/weight_names.h"

namespace fovea {

/// Of T5ForConditionalGeneration and MT5ForConditionalGeneration. `options` is whole.
std::vector<WeightNames> t5_names(const T5Options& options, int64_t vocabulary);

}  // namespace fovea
