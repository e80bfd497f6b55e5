// Files that hold data in a form that is not read here: a spreadsheet, Parquet, an archive, a
// pickle, a web page saved under another name. They are known by their first bytes, whatever they
// are called, and answered with what to do.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

/// "is an Excel workbook; save it as CSV, or: python3 -c …", or "" for bytes that may be text.
/// `path` stands in the commands.
std::string foreign_advice(std::string_view bytes, const std::string& path);

/// BadData with that advice.
void refuse_foreign(std::string_view bytes, const std::string& path);

}  // namespace fovea
