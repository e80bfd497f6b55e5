// What the program prints. Names of files, columns and classes, and inputs themselves come from
// strangers; none of them may move a terminal's cursor. So messages and tables show control
// characters as \x1b, always; answers do so on a terminal, while a file or a pipe gets their bytes.
#pragma once

#include <string_view>

namespace fovea::cli {

/// A line on standard error, for people.
void tell(std::string_view message);

/// A line on standard output that may be data: an answer, the name of a folder.
void put_line(std::string_view line);

}  // namespace fovea::cli
