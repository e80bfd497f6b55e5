// A picture or a sound as users hand it to a task: the bytes of a file as a data URL. Paths are not
// read here: clients of a server must not make it open its own files. The program puts the file in
// the place of its path before a task sees it (cli/media.h).
#pragma once

#include <string>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/data/formats/read_image.h"
#include "fovea/data/formats/read_sound.h"

namespace fovea {

/// The picture of an input line: {"image": "data:…"}, or the data URL alone. BadData says what does
/// not fit.
Image image_of_input(const std::string& line, const ReadImageOptions& options);
/// The sound of one: {"audio": "data:…"}, or the data URL alone.
Sound sound_of_input(const std::string& line, const ReadSoundOptions& options);

/// The JSON schemas of such inputs.
Json image_input_schema();
Json sound_input_schema();

/// Inputs that these functions take, of a PNG file and of a sound; the name is for people.
Json image_input(std::string_view png);
Json sound_input(const Sound& sound, const std::string& name = "");

}  // namespace fovea
