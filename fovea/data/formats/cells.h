// What the cells of a table mean: missing or not, a number or not, which name stands for which
// column. Shared by the encoders of data/tables/encoder.h and data/sequences/encoder.h, so that
// both read the same file in the same way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/formats/csv.h"

namespace fovea {

/// A row by column names, as a user types it.
using NamedCells = std::map<std::string, std::string>;

/// The cell without white space at its ends; quick when there is none.
std::string_view trim_cell(std::string_view cell);

/// Empty, ?, NA, N/A, NaN, nan, null, NULL or None.
bool is_missing(std::string_view trimmed);

/// The cell as a number that float32 can hold; false for anything else, "inf" and "1e99" included.
bool parse_cell(std::string_view trimmed, double& value);

/// A number, or a date such as 2014-05-03 or 2014-05-03 17:20:05 as days. Nothing for other texts.
std::optional<double> parse_time(std::string_view text);
/// The same of a cell of the row at `place`; BadData for other texts.
double time_in_cell(std::string_view cell, const std::string& place);

/// Sorts by number when every text is a number, else alphabetically.
void sort_naturally(std::vector<std::string>& texts);

/// `name` when it is given and exists, else the first of target, label, class, y. NotFound lists
/// the columns.
std::string choose_target(const CsvTable& table, const std::string& name);

/// The rows whose cell in that column is not missing.
CsvTable rows_with(const CsvTable& table, int64_t column);

/// Names the cells of a row typed without header. It may hold only the `inputs`, all
/// `file_columns`, or all but the target.
NamedCells name_cells(std::span<const std::string> cells, std::span<const std::string> file_columns,
                      std::span<const std::string> inputs, const std::string& target);

/// The cell of that column. BadData when the row does not have it.
const std::string& named_cell(const NamedCells& row, const std::string& column);

/// BadData when the row names a column that the training file did not have: most likely a slip.
void check_names(const NamedCells& row, std::span<const std::string> file_columns);

/// "'a', 'b', 'c' and 12 more".
std::string quoted_list(std::span<const std::string> names, size_t shown = 8);

}  // namespace fovea
