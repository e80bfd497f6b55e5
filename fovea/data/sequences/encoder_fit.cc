// The half of ContextEncoder that learns; encoder.cc is the half that applies what was learnt.
#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/sequences/encoder.h"

namespace fovea {

namespace {

constexpr size_t kMaxContexts = 65536;

std::string choose_context(const CsvTable& table, const std::string& name) {
  if (!name.empty()) return table.names[size_t(table.column(name))];
  require(table.find("context") >= 0, ErrorKind::NotFound, table.path,
          ": which column is the context? None is called context; name it with --columns "
          "context=COLUMN. The columns are: ",
          quoted_list(table.names, 30));
  return "context";
}

std::vector<std::string> read_contexts(const CsvTable& table, int64_t column) {
  std::set<std::string, std::less<>> labels;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view label = trim_cell(table.cell(row, column));
    if (is_missing(label))
      fail(ErrorKind::BadData, table.place(row), ": the context is missing; every row needs one");
    if (!labels.contains(label)) labels.emplace(label);
    if (labels.size() > kMaxContexts)
      fail(ErrorKind::BadData, table.path, ": column '", table.names[size_t(column)],
           "' has more than ", format_count(kMaxContexts),
           " different contexts; is it the right column?");
  }
  std::vector<std::string> contexts(labels.begin(), labels.end());
  sort_naturally(contexts);
  return contexts;
}

/// One column of numbers; NaN where missing.
struct NumberColumn {
  std::vector<double> values;
  int64_t present = 0, first_text = -1;
};

NumberColumn read_numbers(const CsvTable& table, int64_t column) {
  NumberColumn numbers;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = trim_cell(table.cell(row, column));
    double value = NAN;
    if (!is_missing(cell)) {
      if (!parse_cell(cell, value)) return numbers.first_text = row, numbers;
      ++numbers.present;
    }
    numbers.values.push_back(value);
  }
  return numbers;
}

/// Fills means, and with `standardise` the common scale, from the positions' values.
void learn_scale(ContextLayout& layout, const std::vector<std::vector<double>>& columns,
                 bool standardise) {
  // What stays as drawn is float32 in the end: a file and the numbers it was written from must
  // agree exactly.
  const auto read = [&](double raw) { return standardise ? raw : double(float(raw)); };
  std::vector<double> means;
  double total = 0, squares = 0;
  int64_t total_count = 0;
  for (const std::vector<double>& column : columns) {
    double sum = 0;
    int64_t count = 0;
    for (const double raw : column)
      if (!std::isnan(raw)) sum += read(raw), ++count;
    means.push_back(sum / double(count));
    total += sum, total_count += count;
  }
  if (standardise) {
    layout.mean = total / double(total_count);
    for (const std::vector<double>& column : columns)
      for (const double raw : column)
        if (!std::isnan(raw)) squares += (raw - layout.mean) * (raw - layout.mean);
    layout.deviation = std::sqrt(squares / double(total_count));
    require(layout.deviation > 0, ErrorKind::BadData,
            "every position has the same value; it cannot be standardised");
  }
  for (const double mean : means)
    layout.input_means.push_back((mean - layout.mean) / layout.deviation);
}

bool is_constant(const std::vector<double>& values) {
  double first = NAN;
  for (const double value : values) {
    if (std::isnan(first)) first = value;
    if (!std::isnan(value) && value != first) return false;
  }
  return true;
}

void check_target(const CsvTable& table, const std::string& name) {
  const std::string subject = concat(table.path, ": target '", name, "'");
  require(table.rows() > 0, ErrorKind::BadData, subject,
          " is missing in every row; nothing can be learnt");
  const NumberColumn target = read_numbers(table, table.column(name));
  if (target.first_text >= 0)
    fail(ErrorKind::BadData, table.place(target.first_text), ": target '", name, "' is '",
         table.cell(target.first_text, table.column(name)), "', a number is expected");
  const auto [low, high] = std::minmax_element(target.values.begin(), target.values.end());
  require(*low < *high, ErrorKind::BadData, subject, " is always ", format_number(*low),
          "; nothing can be learnt");
}

std::vector<std::string> candidate_positions(const CsvTable& table, const ContextLayout& layout,
                                             const ContextOptions& options) {
  std::vector<std::string> names;
  for (const std::string& name : options.position_columns) {
    table.column(name);
    require(name != layout.target && name != layout.context, ErrorKind::InvalidArgument, "column '",
            name, "' is the ", name == layout.target ? "target" : "context",
            ": it cannot be a position as well");
    names.push_back(name);
  }
  if (!names.empty()) return names;
  for (const std::string& name : table.names)
    if (name != layout.target && name != layout.context && name != options.split)
      names.push_back(name);
  return names;
}

struct PositionColumns {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
  int64_t missing = 0;
};

/// Reads the positions. Columns that cannot be one are noted and left out, unless they were asked
/// for by name.
PositionColumns read_positions(const CsvTable& rows, const ContextLayout& layout,
                               const ContextOptions& options, std::vector<std::string>& notes) {
  PositionColumns columns;
  for (const std::string& name : candidate_positions(rows, layout, options)) {
    const int64_t at = rows.column(name);
    NumberColumn numbers = read_numbers(rows, at);
    if (numbers.first_text >= 0) {
      const std::string found = concat("'", rows.cell(numbers.first_text, at), "'");
      const std::string place = rows.place(numbers.first_text);
      require(options.position_columns.empty(), ErrorKind::BadData, place, ": column '", name,
              "' is ", found, ", a position needs numbers");
      notes.push_back(
          concat("column '", name, "' is left out: ", found, " at ", place, " is not a number"));
    } else if (numbers.present == 0) {
      notes.push_back(concat("column '", name, "' has no values: it is left out"));
    } else {
      if (is_constant(numbers.values))
        notes.push_back(concat("position '", name, "' is always the same"));
      columns.missing += rows.rows() - numbers.present;
      columns.names.push_back(name);
      columns.values.push_back(std::move(numbers.values));
    }
  }
  require(!columns.names.empty(), ErrorKind::BadData, rows.path,
          ": no column of numbers is left for the positions");
  return columns;
}

}  // namespace

void ContextEncoder::fit(const CsvTable& train, const ContextOptions& options) {
  ContextEncoder fresh;
  fresh.file_columns_ = train.names;
  ContextLayout layout;
  layout.target = choose_target(train, options.target);
  layout.context = choose_context(train, options.context);
  require(layout.target != layout.context, ErrorKind::InvalidArgument, "column '", layout.target,
          "' cannot be both context and target");
  const CsvTable rows = rows_with(train, train.column(layout.target));
  check_target(rows, layout.target);
  layout.contexts = read_contexts(rows, rows.column(layout.context));

  const PositionColumns columns = read_positions(rows, layout, options, fresh.notes_);
  layout.positions = columns.names;
  learn_scale(layout, columns.values, options.standardise == "yes");
  if (columns.missing > 0)
    fresh.notes_.push_back(concat(format_count(columns.missing),
                                  " missing numbers are taken as the mean of their position"));
  fresh.notes_.insert(
      fresh.notes_.begin(),
      concat("target '", layout.target, "': a number; ", layout.positions.size(), " positions, ",
             layout.contexts.size(), " contexts in column '", layout.context, "'"));
  fresh.finish(std::move(layout));
  *this = std::move(fresh);
}

}  // namespace fovea
