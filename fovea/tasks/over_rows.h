// Measuring a model on many rows of texts: in batches of similar length, side by side on a CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/models/model.h"

namespace fovea {

/// Every row once, in batches of about `tokens` padded positions on a CPU and eight times as many
/// on a GPU. `job` is given the rows and their batch, on the model's device and without gradients;
/// on a CPU several jobs run at a time. `progress` may be empty.
void over_rows(const Model& model, const Dataset& rows, int64_t tokens,
               const std::function<void(std::span<const int64_t> picked, const Batch& batch)>& job,
               const std::function<void(int64_t rows)>& progress);

/// Whether the tap has such a map: a network without attention, or without a head of it that is
/// left, reports none.
bool has_map(const Tap& tap, const std::string& name);

/// How much of the attention of the map called `map` (of stacked attention the last layer, the mean
/// of its heads) lies on what is known to matter, over at most 1,000 rows. None where nothing is
/// known.
std::optional<double> planted_truth(const Model& model, const Dataset& rows,
                                    const std::string& map);

}  // namespace fovea
