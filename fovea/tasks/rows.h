// Raw rows typed by a user or read from a file, for the tasks whose input is a row of a table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/input_table.h"

namespace fovea {

/// A JSON object's values as cells: null is a missing cell. `write` says how a plain number is
/// written in the cells of a column; without it, plainly.
using WriteNumber =
    std::function<std::string(const std::string& column, const std::string& plain_number)>;
NamedCells cells_of(const Json& object, const WriteNumber& write = {});

/// "'order': unknown, ignored" of a JSON object with names that training did not know; else "".
std::string unknown_names_note(const std::string& line, std::span<const std::string> known);

/// BadData for a name that is nearly one of `known`: a slip that would go unseen, since other names
/// are ignored.
void check_slips(const Json& object, const std::vector<std::string>& known);

/// JSON schema of a row: an object with one property per column, in their order.
struct SchemaColumn {
  std::string name;
  std::vector<std::string> categories = {};  // empty: a number
  bool text = false;                         // any text
  bool may_be_missing = false;               // training saw missing values: null is one
};
Json row_schema(std::span<const SchemaColumn> columns);

/// A row as a JSON object: cells that are numbers as such, missing ones as null.
Json row_object(std::span<const std::string> columns, std::span<const std::string> cells);

/// The number as people would write it: at most four digits.
double rounded(double value);

/// One row, as a JSON object or as plain cells.
template <class Encoder>
auto parse_row(const Encoder& encoder, const std::string& line) {
  if (is_json_object(line)) {
    WriteNumber write;
    if constexpr (requires { encoder.written("", ""); })
      write = [&](const std::string& column, const std::string& plain_number) {
        return encoder.written(column, plain_number);
      };
    return encoder.encode_row(cells_of(parse_json(line, "input"), write));
  }
  require(!trim(line).empty(), ErrorKind::BadData,
          "the input is empty; expected a row such as 0.1,0.2,… or a JSON object");
  char delimiter = delimiter_of(line);
  if constexpr (requires { encoder.delimiter(); })  // 60,5;Bern: commas within numbers
    if (line.find(encoder.delimiter()) != std::string::npos) delimiter = encoder.delimiter();
  const std::vector<std::string> cells = parse_csv_line(line, delimiter);
  if constexpr (requires { encoder.takes_cells(size_t{}); })
    if (!encoder.takes_cells(cells.size()))
      if (auto other = parse_csv_line(line, delimiter == ';' ? ',' : ';');
          encoder.takes_cells(other.size()))
        return encoder.encode_row(other);
  return encoder.encode_row(cells);
}

}  // namespace fovea
