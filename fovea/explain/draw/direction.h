// Writing from right to left, for canvases that put one glyph after the other from left to right:
// Arabic letters take the form that joins their neighbours, and runs of Arabic or Hebrew are turned
// round. Enough for labels; viewers of SVG follow the whole Unicode algorithm themselves.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

/// `text` in the order in which it stands on paper, from left to right; text without such letters
/// comes back as it is. Numbers inside a run keep their order, brackets are mirrored.
std::string visual_order(std::string_view text);

}  // namespace fovea
