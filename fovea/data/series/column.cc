#include "fovea/data/series/column.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

namespace {

constexpr size_t kDateLength = 10;  // yyyy-mm-dd

bool begins_with_date(const std::string& label) {
  if (label.size() < kDateLength) return false;
  for (size_t i = 0; i < kDateLength; ++i) {
    const bool dash = i == 4 || i == 7, digit = label[i] >= '0' && label[i] <= '9';
    if (dash ? label[i] != '-' : !digit) return false;
  }
  return true;
}

/// Dates that sort as text: the year first, and as many characters in each.
bool sort_as_text(const std::vector<std::string>& labels) {
  return std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
    return begins_with_date(label) && label.size() == labels[0].size();
  });
}

/// The labels as numbers; empty when one is none.
std::vector<double> parse_labels(const std::vector<std::string>& labels) {
  std::vector<double> numbers(labels.size());
  for (size_t i = 0; i < labels.size(); ++i)
    if (!parse_cell(labels[i], numbers[i])) return {};
  return numbers;
}

}  // namespace

SeriesColumn read_series_column(const CsvTable& table, int64_t column, const NumberFormat* format) {
  SeriesColumn read;
  read.values.assign(size_t(table.rows()), NAN);
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = trim_cell(table.cell(row, column));
    if (format ? is_missing_number(cell) : is_missing(cell)) continue;
    double value = 0;
    if (format ? format->parse(cell, value) : parse_cell(cell, value)) {
      read.values[size_t(row)] = value;
      ++read.numbers;
    } else {
      if (read.texts++ == 0) read.first_text = row;
    }
  }
  return read;
}

std::vector<double> read_series(const CsvTable& table, const std::string& name,
                                const NumberFormat* format) {
  const int64_t column = table.column(name);
  SeriesColumn read = read_series_column(table, column, format);
  if (read.texts > 0) refuse_text(table, read.first_text, column);
  return std::move(read.values);
}

void refuse_text(const CsvTable& table, int64_t row, int64_t column) {
  fail(ErrorKind::BadData, table.place(row), ": column '", table.names[size_t(column)], "' is '",
       table.cell(row, column),
       "', a number is expected; leave the cell empty where it is missing");
}

int64_t fill_gaps(std::span<double> values, int64_t maximum_gap) {
  const auto count = int64_t(values.size());
  int64_t filled = 0, last = -1;  // `last` is the step of the last known value
  for (int64_t step = 0; step < count; ++step) {
    if (std::isnan(values[size_t(step)])) continue;
    const int64_t distance = step - last;
    if (last >= 0 && distance > 1 && distance - 1 <= maximum_gap) {
      const double from = values[size_t(last)], to = values[size_t(step)];
      for (int64_t i = 1; i < distance; ++i)
        values[size_t(last + i)] = from + (to - from) * double(i) / double(distance);
      filled += distance - 1;
    }
    last = step;
  }
  return filled;
}

SeriesTimes read_times(const CsvTable& table, const std::string& name, const DateFormat* format) {
  SeriesTimes times;
  const int64_t column = name.empty() ? -1 : table.find(name);
  if (column < 0) return times;
  times.labels.reserve(size_t(table.rows()));
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = trim_cell(table.cell(row, column));
    if (is_missing(cell))
      fail(ErrorKind::BadData, table.place(row), ": the time '", name,
           "' is missing; fill it in, or read the file without it (data.time=none)");
    const auto written = format ? format->parse(cell) : std::nullopt;
    times.labels.push_back(written ? format->format(written->in_days()) : std::string(cell));
  }
  const std::vector<double> numbers = parse_labels(times.labels);
  times.comparable = !numbers.empty() || sort_as_text(times.labels);
  for (size_t row = 1; times.comparable && row < times.labels.size(); ++row) {
    const bool ascends = numbers.empty() ? times.labels[row - 1] < times.labels[row]
                                         : numbers[row - 1] < numbers[row];
    if (!ascends)
      fail(ErrorKind::BadData, table.place(int64_t(row)), ": the time '", times.labels[row],
           "' in column '", name, "' does not come after '", times.labels[row - 1],
           "'; sort the rows, one row a step, or say which column tells several series apart "
           "(--columns series=COLUMN), or read the file without it (data.time=none)");
  }
  return times;
}

}  // namespace fovea
