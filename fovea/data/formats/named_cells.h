// Which name stands for which column: the target of a table, the cells of a row that a user types.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/formats/csv.h"

namespace fovea {

/// A row by column names, as a user types it.
using NamedCells = std::map<std::string, std::string>;

/// `name` when it is given and exists, else the first of target, label, class, y. NotFound lists
/// the columns.
std::string choose_target(const CsvTable& table, const std::string& name);
/// The same; "" where there is none.
std::string find_target(const CsvTable& table, const std::string& name);

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

/// The place of that name: exactly so, else of the only one that differs in its case; -1: none.
int64_t find_name(std::span<const std::string> names, const std::string& name);

/// "'a', 'b', 'c' and 12 more".
std::string quoted_list(std::span<const std::string> names, size_t shown = 8);

}  // namespace fovea
