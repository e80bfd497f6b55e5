// Files that hold a table, by their endings: one reader for each format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/formats/csv.h"

namespace fovea {

struct TableFormat {
  std::vector<std::string> endings;  // ".csv"; a .gz may follow
  CsvTable (*read)(const std::filesystem::path& path);
  bool is_csv = false;           // CsvStream reads it too
  bool has_input_lines = false;  // predict takes each line as an input
};

/// Of all formats, in the order of the table in table.cc.
std::vector<std::string> table_endings();

/// By the file's ending; a file with another one is read as CSV. NotFound, Io, or BadData with
/// path:line.
CsvTable read_table(const std::filesystem::path& path);
/// Whether that is CSV.
bool is_csv_name(const std::filesystem::path& path);
/// Whether only read_table() makes rows of it, since its lines are no inputs.
bool is_whole_table_name(const std::filesystem::path& path);

}  // namespace fovea
