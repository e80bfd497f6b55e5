// What the cells of a table mean: missing or not, a number or not, a moment. Shared by the encoders
// of data/tables/encoder.h, data/sequences/encoder.h and data/series/encoder.h, so that all read
// the same file in the same way. Numbers are read as people write them, too: "33.374,10",
// "33,374.10", "1 234,5", "1'234.50", "$1,200", "12 %", "(1,200)".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json_field.h"

namespace fovea {

/// The cell without white space at its ends; quick when there is none.
std::string_view trim_cell(std::string_view cell);

/// Empty, ?, NA, N/A, NaN, nan, null, NULL or None.
bool is_missing(std::string_view trimmed);

/// A cell that stands for a missing number: is_missing() and -, --, n.a., na and the like.
bool is_missing_number(std::string_view trimmed);

/// The cell as a number that float32 can hold; false for anything else, "inf" and "1e99" included.
bool parse_cell(std::string_view trimmed, double& value);

/// A number, or a date such as 2014-05-03 or 2014-05-03 17:20:05 as days. Nothing for other texts.
std::optional<double> parse_time(std::string_view text);
/// The same of a cell of the row at `place`; BadData for other texts.
double time_in_cell(std::string_view cell, const std::string& place);

/// Sorts by number when every text is a number, else alphabetically.
void sort_naturally(std::vector<std::string>& texts);

/// How the numbers of a column are written: decided for the whole column from the training rows,
/// and kept. A column of plain numbers such as 1.234 is read otherwise only where the file has
/// decimal commas.
class NumberFormat {
 public:
  /// The format in which every cell that is not missing is a number; none where there is none.
  /// Where a comma could be either, the file's delimiter decides: a semicolon goes with decimal
  /// commas.
  static std::optional<NumberFormat> infer(std::span<const std::string_view> trimmed_cells,
                                           char delimiter);

  /// Of plain numbers in a file with decimal commas: 1.234 is 1234, unless a cell speaks against
  /// it.
  static std::optional<NumberFormat> infer_thousands(
      std::span<const std::string_view> trimmed_cells);

  Json to_json() const;
  static NumberFormat from_json(const Field& field);

  /// Plain numbers are read in every format that does not forbid it: "1200" is one with "$1,200".
  bool parse(std::string_view trimmed, double& value) const;
  bool is_plain() const { return decimal_ == '.' && group_ == 0 && unit_.empty(); }
  bool has_decimal_comma() const { return decimal_ == ','; }
  /// Whether another reading of the same cells was possible: '1,234' is 1234 or 1.234.
  bool is_guess() const { return guess_; }
  /// A plain number as it would be written in this format.
  std::string written(std::string plain_number) const;
  /// "'33.374,10' is read as 33374.1".
  std::string sentence(std::string_view example) const;

 private:
  char decimal_ = '.';
  char group_ = 0;    // between thousands: , . ' or a blank; 0: none
  std::string unit_;  // beside the number: "$", "%", "kg"
  bool guess_ = false;
};

}  // namespace fovea
