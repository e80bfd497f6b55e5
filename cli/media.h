// Pictures and sounds as inputs. A task takes them as data URLs and opens nothing that an input
// names, so that a server's clients cannot make it; the program reads the user's own files and puts
// them in the place of their paths.
#pragma once

#include <string>

#include "fovea/base/json.h"

namespace fovea::cli {

/// Whether inputs of this schema are pictures or sounds.
bool takes_media(const Json& input_schema);

/// The input line with files for paths, by the task's input schema: "photo.png" becomes {"image":
/// "data:image/png;name=photo.png;base64,…"}, and so does {"image": "photo.png"}. A line of another
/// task stays as it is. NotFound for a file that is not there.
std::string with_media(const std::string& line, const Json& input_schema);

/// The path that with_media() reads; "" where there is none.
std::string path_of_medium(const std::string& line, const Json& input_schema);

}  // namespace fovea::cli
