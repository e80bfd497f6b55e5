// The data of the task `forecast`, from wherever it comes, in splits. Series are cut in time order,
// and each split makes its own windows: none crosses a border.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fovea/data/series/encoder.h"
#include "fovea/data/series/synthetic.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct SeriesDataOptions {
  SyntheticSeriesOptions generator;
  SeriesOptions rows;
  void describe(OptionList& list);
};

/// As load_features of data/tables/load.h. The cut is by time: the seed has no say in it. A
/// validation or test split without a window is noted and left out; a training split without one
/// is BadData.
Splits load_series(const DataSource& source, const SeriesDataOptions& options,
                   SeriesEncoder& encoder, uint64_t seed);

/// Writes the synthetic data as train.csv, val.csv, test.csv and dataset.json: loading the folder
/// gives the same tensors, bit for bit.
void write_series_data(const std::filesystem::path& folder, const SeriesDataOptions& options);

}  // namespace fovea
