// Which files of a folder with pairs are the training, validation and test split. Names are
// split.anything.tsv or split.anything.<language>, each perhaps with .gz; docs/formats/pairs.md
// states the rules.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/source.h"

namespace fovea {

struct PairFolderOptions {
  std::string
      direction;     // "de-en": files ending in .de and .en, or a TSV with that pair in its name
  std::string test;  // what the test files' name begins with; empty: the word test
};

struct PairFiles {
  std::filesystem::path source, target;  // no target: both sides are in one file
};

struct PairFolder {
  std::array<std::optional<PairFiles>, kSplitCount> splits;
  std::vector<std::string> notes;
};

/// A split that is not there is empty. BadData when two files could be meant, InvalidArgument when
/// parallel files are there and no direction says which one is the source, NotFound when `test`
/// names no file.
PairFolder find_pair_files(const std::filesystem::path& folder, const PairFolderOptions& options);

}  // namespace fovea
