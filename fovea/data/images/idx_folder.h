// Pictures and labels in idx files. A file whose name holds "images" has the pictures, the one of
// the same name with "labels" (and idx1 for idx3) their classes; a word of the name says which
// split they are: train-images-idx3-ubyte.gz, t10k-labels-idx1-ubyte,
// emnist-letters-test-images-idx3-ubyte. "t10k" is the test.
#pragma once

#include <filesystem>

#include "fovea/data/images/labelled_image.h"
#include "fovea/data/load.h"

namespace fovea {

/// Whether the folder holds pictures in idx files, or the file is one.
bool holds_idx_images(const std::filesystem::path& path);

/// Reads a folder's splits, or one file of pictures with its labels. NotFound without labels;
/// BadData for files that do not fit together.
SplitRows<LabelledImage> read_idx_images(const DataSource& source, const SplitOptions& split);

}  // namespace fovea
