// The data of the task `context`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fovea/data/sequences/encoder.h"
#include "fovea/data/sequences/synthetic.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct ContextDataOptions {
  SyntheticContextOptions generator;
  ContextOptions rows;
  void describe(OptionList& list);
};

/// As load_features of data/tables/load.h.
Splits load_context(const DataSource& source, const ContextDataOptions& options,
                    ContextEncoder& encoder, uint64_t seed);

/// Writes the synthetic data as train.csv, val.csv and dataset.json: loading the folder gives the
/// same tensors, bit for bit.
void write_context_data(const std::filesystem::path& folder, const ContextDataOptions& options);

}  // namespace fovea
