// A sound as users hand it to a task (data/media_input.h).
#pragma once

#include <string>

#include "fovea/base/json.h"
#include "fovea/data/formats/read_sound.h"

namespace fovea {

/// The sound of an input line: {"audio": "data:…"}, or the data URL alone. BadData says what does
/// not fit.
Sound sound_of_input(const std::string& line, const ReadSoundOptions& options);

/// The JSON schema of such an input.
Json sound_input_schema();

/// An input that sound_of_input() takes; the name is for people.
Json sound_input(const Sound& sound, const std::string& name = "");

}  // namespace fovea
