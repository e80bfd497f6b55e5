// A picture or a sound as users hand it to a task: the bytes of a file as a data URL. Paths are not
// read here: clients of a server must not make it open its own files. The program puts the file in
// the place of its path before a task sees it (cli/media.h).
#pragma once

#include <cstdint>
#include <string>

#include "fovea/base/json.h"

namespace fovea {

struct MediaInput {
  std::string property;  // "audio"
  std::string type;      // "audio/wav": the one that messages show
  std::string files;     // "a WAV or FLAC file"
};

struct MediaFile {
  std::string where;  // for messages: "input", and the file's name where it is known
  std::string bytes;
};

/// The file of an input line: {"audio": "data:…"}, or the data URL alone. BadData says what does
/// not fit.
MediaFile file_of_input(const std::string& line, const MediaInput& input, int64_t largest);

/// The JSON schema of such an input.
Json media_input_schema(const MediaInput& input);

}  // namespace fovea
