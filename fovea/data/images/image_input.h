// A picture as users hand it to a task, whoever they are: the bytes of a PNG or JPEG file as a data
// URL,
//   data:image/png;base64,iVBOR…        perhaps with ;name=photo.png before ;base64
// Paths are not read here: clients of a server must not make it open its own files. The program
// puts the file in the place of its path before a task sees it (cli/media.h).
#pragma once

#include <string>
#include <string_view>

#include "fovea/core/json.h"
#include "fovea/data/images/read_image.h"

namespace fovea {

/// The picture of an input line: {"image": "data:…"}, or the data URL alone. BadData says what does
/// not fit.
Image image_of_input(const std::string& line, const ReadImageOptions& options);

/// The JSON schema of such an input.
Json image_input_schema();

/// An input that image_of_input() takes, of a PNG file.
Json image_input(std::string_view png);

}  // namespace fovea
