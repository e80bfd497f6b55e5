// What a column of the training rows is: a number, a category, a date, free text, or nothing to
// learn from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fovea/data/formats/csv.h"
#include "fovea/data/tables/column.h"

namespace fovea {

struct InferOptions {
  NumberFit numbers = {};
  int64_t max_categories = 100;
  bool keep = false;            // even where every row has another value
  bool category = false;        // a category, whatever the cells are
  bool decimal_commas = false;  // the file has them: 1.234 may be 1234
};

struct InferredColumn {
  std::optional<TableColumn> column = {};  // none: left out
  bool is_identifier = false;              // why: another value in nearly every row
  std::string note = {};                   // what a user may not expect
};

/// Whether a column of the table has numbers such as 12,5.
constexpr int64_t kRowsToJudge = 1000;
bool has_decimal_commas(const CsvTable& table);

/// From all rows of the table, at least one.
InferredColumn infer_column(const CsvTable& table, const std::string& name,
                            const InferOptions& options);

}  // namespace fovea
