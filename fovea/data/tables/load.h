// The data of the task `features`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fovea/data/source.h"
#include "fovea/data/tables/encoder.h"
#include "fovea/data/tables/synthetic.h"

namespace fovea {

/// Everything under data. for this task.
struct FeaturesDataOptions {
  FeaturesGeneratorOptions generator;
  TableOptions table;
  void describe(OptionList& list);
};

/// Reads or draws the data. An encoder that is not fitted yet learns from the training rows; one
/// that is (restored from a run) is used as it is, and then a source without training rows will do.
/// `seed` chooses the rows to hold out; `held_out`, if given, is told whether that was done: files
/// may have validation rows of their own.
Splits load_features(const DataSource& source, const FeaturesDataOptions& options,
                     TableEncoder& encoder, uint64_t seed, bool* held_out = nullptr);

/// Writes the built-in data as train.csv, val.csv and dataset.json: loading the folder gives the
/// same tensors, bit for bit.
void write_features_data(const std::filesystem::path& folder, const FeaturesDataOptions& options);

}  // namespace fovea
