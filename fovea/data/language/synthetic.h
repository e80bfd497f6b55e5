// Synthetic text for the task `language`, in which some characters follow by a rule. Each line
// names letters, each with a digit, then names them again in another order:
//   d7 k2 a9 k2 a9 d7
// Nothing says which digit a letter has at first; the second time it is known: it stands behind the
// same letter, earlier in the line. A network that looks there knows every such digit, and no count
// of neighbouring characters does.
#pragma once

#include <string>

#include "fovea/data/draw.h"

namespace fovea {

struct SyntheticTextOptions : DrawOptions {
  SyntheticTextOptions() : DrawOptions{4000, 200, 200} {}
  int64_t pairs = 4;  // letters of a line
  void describe(OptionList& list);
};

/// One text for each split.
SplitRows<std::string> draw_recall(const SyntheticTextOptions& options);

}  // namespace fovea
