// An explanation as a picture: title and prediction, each figure under its own title, notes at the
// bottom. One drawing code for all canvases.
#pragma once

#include <filesystem>
#include <memory>

#include "fovea/explain/draw/canvas.h"
#include "fovea/explain/draw/figure.h"
#include "fovea/explain/record/explanation.h"

namespace fovea {

/// Lays out the explanation, asks `make_canvas` for a canvas of that size, and draws on it.
std::unique_ptr<Canvas> draw(const Explanation& explanation, const CanvasFactory& make_canvas,
                             const PictureOptions& options = {});

/// Writes .svg, .png, .json or .html (a report) by the ending of `path`; Unsupported for any other.
/// Heads are drawn as their mean, except in reports and .json.
void write_picture(const Explanation& explanation, const std::filesystem::path& path,
                   const PictureOptions& options = {});

}  // namespace fovea
