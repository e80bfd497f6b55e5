// One column of a text table as a series: its numbers in the order of the rows, the gaps in it and
// the time cells beside it. A gap is a run of missing cells; between two known values a and b that
// lie n steps apart, a short one is filled with  a + (b - a) i / n.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/date_format.h"

namespace fovea {

struct SeriesColumn {
  std::vector<double> values;  // NaN where a cell is missing or text
  int64_t numbers = 0, texts = 0;
  int64_t first_text = -1;  // row
};

/// `format`: how the numbers are written, where they are not plain ones.
SeriesColumn read_series_column(const CsvTable& table, int64_t column,
                                const NumberFormat* format = nullptr);

/// The column's numbers, NaN where missing. NotFound; BadData with path:line for text.
std::vector<double> read_series(const CsvTable& table, const std::string& name,
                                const NumberFormat* format = nullptr);

/// Throws the BadData of read_series for the text in `row`.
[[noreturn]] void refuse_text(const CsvTable& table, int64_t row, int64_t column);

/// Fills gaps of at most `maximum_gap` steps that have a known value on both sides. Returns how
/// many values it filled in.
int64_t fill_gaps(std::span<double> values, int64_t maximum_gap);

struct SeriesTimes {
  std::vector<std::string> labels;  // the cells; empty when the table has no such column
  bool comparable = true;           // numbers, or yyyy-mm-dd… of one length
};

/// The time cells. BadData with path:line for a missing one, and where a comparable one does not
/// come after the one before: steps out of order would be windows of nonsense.
/// `format`: how the cells are written, where that is not yyyy-mm-dd, which the labels then are.
SeriesTimes read_times(const CsvTable& table, const std::string& name,
                       const DateFormat* format = nullptr);

}  // namespace fovea
