// A folder of pictures by class: folder/CLASS/anything.png (or .jpg, .jpeg), or such folders called
// train, val and test. Every picture becomes one of the same size.
#pragma once

#include <filesystem>

#include "fovea/data/formats/read_image.h"
#include "fovea/data/images/labelled_image.h"
#include "fovea/data/load.h"

namespace fovea {

struct ImageFolderOptions {
  int64_t side = 0;  // every picture is resized to side x side; 0: all have one size already
  ReadImageOptions reading;
};

/// Whether the folder holds folders of pictures.
bool holds_image_folders(const std::filesystem::path& path);

/// Training rows where there are no splits, or test rows where the source is taken whole. NotFound
/// without pictures; BadData, with the path, for one that cannot be read.
SplitRows<LabelledImage> read_image_folder(const DataSource& source, const SplitOptions& split,
                                           const ImageFolderOptions& options);

}  // namespace fovea
