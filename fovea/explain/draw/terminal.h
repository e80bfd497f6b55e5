// An explanation as text for a terminal: bars in eighths of a character, panels side by side as the
// width allows, matrices as shaded cells. Pure: the caller says how wide the terminal is and what
// it can show.
#pragma once

#include <string>

#include "fovea/explain/draw/figure.h"
#include "fovea/explain/record/explanation.h"

namespace fovea {

struct TerminalOptions {
  int width = 80;
  bool colour = true;   // escape codes; none at all without it
  bool unicode = true;  // false: ASCII only, everything else in a label becomes '?'
  PictureOptions picture;
};

/// Every line ends in a newline and is at most `width` columns wide (40 at least; panels of more
/// than three series may need more).
std::string render_terminal(const Explanation& explanation, const TerminalOptions& options = {});

}  // namespace fovea
