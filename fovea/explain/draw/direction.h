// Writing from right to left, for canvases that put one glyph after the other from left to right.
// ICU shapes Arabic letters and orders the text (Unicode Standard Annex #9, the direction of the
// first strong letter as base); viewers of SVG and browsers do so themselves. A build without ICU
// draws every text from left to right.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

/// `text` in the order in which it stands on paper, from left to right; brackets are mirrored.
std::string visual_order(std::string_view text);

}  // namespace fovea
