// Which column of a TSV with pairs is what. Nothing is guessed: by position, by a header of known
// names, or as the user says; anything in between is an error. For readers/text_pairs.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/data/pairs/reader.h"

namespace fovea {

struct TsvColumns {
  bool header = false;  // the first line names the columns
  size_t cells = 2;     // that a row has at least; exactly, with a header
  size_t source = 0;
  std::vector<size_t> targets{1};
  std::optional<size_t> links, split;
  bool rest_are_references = true;  // columns from the third on
  bool swap = false;                // to be exchanged after reading
};

/// Decides from the first line's cells. InvalidArgument, NotFound or BadData, beginning with
/// `place`.
TsvColumns find_tsv_columns(const std::vector<std::string>& first_line,
                            const TextPairsOptions& options, const std::string& place);

}  // namespace fovea
