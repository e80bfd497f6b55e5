// The bytes of a table as UTF-8, from what spreadsheets write: what decode_text() decodes, and
// Windows-1252.
#pragma once

#include <string>
#include <vector>

namespace fovea {

/// UTF-8 without a byte order mark, lines that end in LF or CR LF, and without the line "sep=;" of
/// Excel (its line end stays, so that lines keep their numbers). A guess is added to `notes`.
/// BadData, beginning with `name`, for bytes that are none of these.
std::string decode_table_text(std::string content, const std::string& name,
                              std::vector<std::string>& notes);

}  // namespace fovea
