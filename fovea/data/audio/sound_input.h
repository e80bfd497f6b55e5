// A sound as users hand it to a task: the bytes of a WAV or FLAC file as a data URL,
//   data:audio/wav;base64,UklGR…        perhaps with ;name=seven.wav before ;base64
// Paths are not read here: clients of a server must not make it open its own files. The program
// puts the file in the place of its path before a task sees it (cli/media.h).
#pragma once

#include <string>

#include "fovea/core/json.h"
#include "fovea/data/audio/read_sound.h"

namespace fovea {

/// The sound of an input line: {"audio": "data:…"}, or the data URL alone. BadData says what does
/// not fit.
Sound sound_of_input(const std::string& line, const ReadSoundOptions& options);

/// The JSON schema of such an input.
Json sound_input_schema();

/// An input that sound_of_input() takes.
Json sound_input(const Sound& sound);

}  // namespace fovea
