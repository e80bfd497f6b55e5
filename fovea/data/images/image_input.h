// A picture as users hand it to a task, whoever they are (data/media_input.h).
#pragma once

#include <string>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/data/formats/read_image.h"

namespace fovea {

/// The picture of an input line: {"image": "data:…"}, or the data URL alone. BadData says what does
/// not fit.
Image image_of_input(const std::string& line, const ReadImageOptions& options);

/// The JSON schema of such an input.
Json image_input_schema();

/// An input that image_of_input() takes, of a PNG file.
Json image_input(std::string_view png);

}  // namespace fovea
