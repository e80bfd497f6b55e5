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

using RowBatches = std::vector<std::vector<int64_t>>;

/// Every row once, rows of similar length together: in batches of about `tokens` padded positions
/// on a CPU and eight times as many on a GPU.
RowBatches batches_of_tokens(const Model& model, const Dataset& rows, int64_t tokens);
/// Likewise in batches of `count` rows, by the length of their inputs.
RowBatches batches_of_rows(const Model& model, const Dataset& rows, int64_t count);

/// `job` is given each batch and its place among them, on the model's device and without gradients;
/// on a CPU several jobs run at a time. `progress` may be empty.
void over_batches(const Model& model, const Dataset& rows, const RowBatches& batches,
                  const std::function<void(size_t index, const Batch& batch)>& job,
                  const std::function<void(int64_t rows)>& progress);

/// Every row once, in batches_of_tokens(): `job` is given the rows and their batch.
void over_rows(const Model& model, const Dataset& rows, int64_t tokens,
               const std::function<void(std::span<const int64_t> picked, const Batch& batch)>& job,
               const std::function<void(int64_t rows)>& progress);

/// The numbers of the rows `first`, `first` + 1, …, at most `most` of them.
std::vector<int64_t> rows_from(const Dataset& rows, int64_t first, int64_t most);

/// Rows of a batch to where they belong among all, on the CPU.
void put_rows(std::span<const int64_t> picked, const at::Tensor& from, at::Tensor to);

/// Whether the tap has such a map: a network without attention, or without a head of it that is
/// left, reports none.
bool has_map(const Tap& tap, const std::string& name);

/// How much of the attention of the map called `map` (of stacked attention the last layer, the mean
/// of its heads) lies on what is known to matter, over at most 1,000 rows. None where nothing is
/// known.
std::optional<double> planted_truth(const Model& model, const Dataset& rows,
                                    const std::string& map);

/// The same of what follows from several maps: `weights` gives [B, Q, K], undefined where the
/// network has no such maps; `truth` is what the rows call it.
std::optional<double> planted_truth(const Model& model, const Dataset& rows,
                                    const std::string& truth,
                                    const std::function<at::Tensor(const Tap&)>& weights);

}  // namespace fovea
