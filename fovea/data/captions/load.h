// The data of the task `caption`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/base/options.h"
#include "fovea/data/captions/encoder.h"
#include "fovea/data/captions/synthetic.h"
#include "fovea/data/formats/read_image.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct CaptionsDataOptions {
  SyntheticCaptionsOptions generator;
  int64_t image_size = 64;
  std::string fit = "stretch";
  std::string images;  // where a picture lies: "png/{}.png"
  TokeniserOptions tokeniser{"words"};
  double validation_fraction = 0.1;
  std::string quotes = "auto";
  int64_t largest_image = 40'000'000;
  double max_bad_share = 0.05;
  void describe(OptionList& list);

  ReadImageOptions reading() const;
};

/// What is learned from the data and kept in the run.
struct CaptionCoding {
  std::shared_ptr<const Tokeniser> tokeniser;
  int64_t longest = 0;  // symbols of the longest training caption, the end included
};

struct CaptionLoading {
  uint64_t seed = 0;
  int64_t grid = 8;  // cells of a side: the model's
  LoadProgress progress = {};
};

/// Reads a table, a folder or a prepared file, or draws the synthetic ones. A first call learns
/// the tokeniser from the training captions. Pictures that cannot be read are left out
/// and named with path:line; more of them than max_bad_share are an error.
Splits load_captions(const DataSource& source, const CaptionsDataOptions& options,
                     CaptionCoding& coding, const CaptionLoading& loading);

/// Writes train.tsv, val.tsv, test.tsv, their pictures as PNG and dataset.json: loading the folder
/// gives the same rows.
void write_captions_data(const std::filesystem::path& folder, const CaptionsDataOptions& options);

/// One file with pictures and symbols, which training maps into memory: no picture is opened and no
/// text cut again.
void write_prepared_captions(const std::filesystem::path& path, const Splits& splits,
                             const CaptionsDataOptions& options, const CaptionCoding& coding);
Splits read_prepared_captions(const std::filesystem::path& path, const CaptionsDataOptions& options,
                              CaptionCoding& coding, int64_t grid);

}  // namespace fovea
