// Tokenised pairs in one safetensors file, which training takes as it is: nothing is cut or looked
// up again, and neither ICU nor SentencePiece is needed. docs/formats/prepared.md lists the
// fields and what is refused.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/base/json.h"
#include "fovea/data/pairs/load.h"
#include "fovea/data/prepared.h"

namespace fovea {

struct Prepared {
  Splits splits;  // of PairDatasets; the hash is that of this file
  PairTokenisers tokenisers;
  std::string task;
  Json options;  // what the data was prepared with
};

/// Writes atomically. The splits must hold PairDatasets made with these tokenisers; their notes are
/// kept.
void write_prepared(const std::filesystem::path& path, const Splits& splits,
                    const PairTokenisers& tokenisers, const std::string& task, const Json& options);

/// BadData for a damaged file: every array is checked before it is used. Unsupported for a newer
/// version.
Prepared read_prepared(const std::filesystem::path& path);

}  // namespace fovea
