// A canvas of pixels, drawn and written by cairo, two pixels a point so that small text stays
// sharp.
#pragma once

#include <memory>

#include "fovea/explain/draw/canvas.h"

namespace fovea {

inline constexpr double kPixelsPerPoint = 2;

/// Unsupported when this build has no cairo, or when the picture is larger than cairo can hold.
std::unique_ptr<Canvas> make_png_canvas(double width, double height);

}  // namespace fovea
