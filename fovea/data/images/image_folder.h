// Pictures in files: a folder of them by class (data/class_folders.h), or a table of their paths
// and labels. Whatever sizes and colours they have, those of a data set become alike.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fovea/data/formats/read_image.h"
#include "fovea/data/images/encoder.h"
#include "fovea/data/images/labelled_image.h"
#include "fovea/data/load.h"
#include "fovea/data/media_table.h"

namespace fovea {

struct ImageFileOptions {
  int64_t side = 0;  // of all pictures; 0: their own size where it is one of at most kLargestSide
                     // pixels in each direction, else a square of at most that
  std::string fit = "letterbox";  // of fit_names()
  std::string resample = "area";  // of filter_names()
  std::string colours = "auto";   // grey, colour; auto: colour where a picture has any
  int64_t largest_image = 40'000'000;
  double max_bad_share = 0.05;
  std::string images;                 // where a table's picture lies: "png/{}.png"
  std::optional<PictureShape> shape;  // what a run knows already, instead of side and colours

  static constexpr int64_t kLargestSide = 32;
  ReadImageOptions reading(int64_t channels) const;
};

/// Whether the folder holds folders of pictures.
bool holds_image_folders(const std::filesystem::path& path);
/// Whether the path is a table (.csv .tsv .tab), or a folder of such called after splits.
bool holds_image_table(const std::filesystem::path& path);

/// Training rows where there are no splits, or test rows where the source is taken whole. Pictures
/// that cannot be read are left out and noted; BadData, with the path, for too many of them.
/// NotFound without pictures.
SplitRows<LabelledImage> read_image_folder(const DataSource& source, const SplitOptions& split,
                                           const ImageFileOptions& options);

/// Columns by roles, or called image (file, filename, path) and label (class, category); a split
/// column too.
SplitRows<LabelledImage> read_image_table(const DataSource& source, const SplitOptions& split,
                                          const ImageFileOptions& options);

}  // namespace fovea
