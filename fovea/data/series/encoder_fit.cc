// The half of SeriesEncoder that learns; encoder.cc is the half that applies what was learnt.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/series/column.h"
#include "fovea/data/series/encoder.h"

namespace fovea {

namespace {

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The time column's name, or "".
std::string choose_time(const CsvTable& table, const std::string& wanted) {
  if (wanted == "none") return "";
  if (!wanted.empty()) return table.names[size_t(table.column(wanted))];
  for (const std::string usual : {"time", "date", "datetime", "timestamp"})
    for (const std::string& name : table.names) {
      std::string lower = name;
      for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
      if (lower == usual) return name;
    }
  return "";
}

/// A column with a role of its own is no series, and no series counts twice.
void check_asked(const CsvTable& table, const Names& asked, const std::string& time,
                 const std::string& split) {
  for (const std::string& name : asked) {
    table.column(name);
    require(name != time && name != split, ErrorKind::InvalidArgument, "column '", name,
            "' is the ", name == time ? "time" : "split", ": it cannot be a series as well");
  }
}

void check_once(const Names& names, const char* role) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    require(seen.insert(name).second, ErrorKind::InvalidArgument, "column '", name,
            "' is named twice among the ", role);
}

/// The columns to read: those asked for, or all that are neither time nor split.
Names candidates(const CsvTable& table, const SeriesOptions& options, const std::string& time) {
  Names names = options.input_columns;
  if (names.empty()) {
    for (const std::string& name : table.names)
      if (name != time && name != options.split) names.push_back(name);
  } else {
    for (const std::string& name : options.target_columns)
      if (!holds(names, name)) names.push_back(name);
  }
  return names;
}

/// Reads the candidates. A column of text is noted and left out, unless it was asked for by name or
/// looks like numbers with a slip: fewer than one cell in ten is text.
SeriesNumbers read_candidates(const CsvTable& table, const SeriesOptions& options,
                              const std::string& time, Names& notes) {
  SeriesNumbers numbers{table.path, {}, {}};
  for (const std::string& name : candidates(table, options, time)) {
    const bool asked = holds(options.input_columns, name) || holds(options.target_columns, name);
    const int64_t column = table.column(name);
    SeriesColumn read = read_series_column(table, column);
    if (read.texts > 0) {
      if (asked || read.texts * 10 < read.texts + read.numbers)
        refuse_text(table, read.first_text, column);
      notes.push_back(concat("column '", name, "' is left out: '",
                             table.cell(read.first_text, column), "' at ",
                             table.place(read.first_text), " is not a number"));
    } else if (read.numbers == 0) {
      require(!asked, ErrorKind::BadData, table.path, ": column '", name, "' has no values");
      notes.push_back(concat("column '", name, "' has no values: it is left out"));
    } else {
      numbers.columns.push_back(name);
      numbers.values.push_back(std::move(read.values));
    }
  }
  require(!numbers.columns.empty(), ErrorKind::BadData, table.path,
          ": no column of numbers is left; the columns are ", quoted_list(table.names, 30));
  return numbers;
}

struct Scale {
  double mean = 0, deviation = 1;
  bool constant = false;
};

/// Mean and deviation of the known values.
Scale fit_scale(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  int64_t count = 0;
  for (const double value : values)
    if (!std::isnan(value)) {
      sum += value, ++count;
      low = std::min(low, value), high = std::max(high, value);
    }
  // By its values, not by its deviation: rounding gives 0.1, 0.1, 0.1 a deviation above 0.
  if (count == 0 || low == high) return {count == 0 ? 0 : low, 1, true};
  Scale scale{sum / double(count), 1, false};
  for (const double value : values)
    if (!std::isnan(value)) squares += (value - scale.mean) * (value - scale.mean);
  scale.deviation = std::sqrt(squares / double(count));
  return scale;
}

size_t find_series(const SeriesNumbers& numbers, const std::string& name) {
  const auto found = std::find(numbers.columns.begin(), numbers.columns.end(), name);
  require(found != numbers.columns.end(), ErrorKind::NotFound, numbers.name, " has no series '",
          name, "'", suggestion(name, numbers.columns), "; it has ", quoted_list(numbers.columns));
  return size_t(found - numbers.columns.begin());
}

}  // namespace

void SeriesEncoder::learn(const SeriesNumbers& train, const SeriesOptions& options) {
  check_once(options.input_columns, "inputs");
  check_once(options.target_columns, "targets");
  require(options.window >= 1 && options.horizon >= 1 && options.stride >= 1,
          ErrorKind::InvalidArgument, "window ", options.window, ", horizon ", options.horizon,
          " and stride ", options.stride, " cannot be; each is at least 1");
  SeriesLayout layout;
  layout.time = options.time;
  layout.window = options.window;
  layout.horizon = options.horizon;
  layout.stride = options.stride;
  layout.maximum_gap = options.maximum_gap;
  layout.series = options.input_columns.empty() ? train.columns : options.input_columns;
  layout.inputs = int64_t(layout.series.size());
  const Names targets = options.target_columns.empty() ? layout.series : options.target_columns;
  for (const std::string& name : targets) {
    auto found = std::find(layout.series.begin(), layout.series.end(), name);
    if (found == layout.series.end()) found = layout.series.insert(found, name);
    layout.targets.push_back(found - layout.series.begin());
  }

  std::vector<bool> constant;
  for (const std::string& name : layout.series) {
    const Scale scale = fit_scale(train.values[find_series(train, name)]);
    const bool standardise = options.standardise != "no";
    layout.means.push_back(standardise ? scale.mean : 0);
    layout.deviations.push_back(standardise ? scale.deviation : 1);
    constant.push_back(scale.constant);
    if (scale.constant)
      notes_.push_back(concat("series '", name, "' is always ", format_number(scale.mean)));
  }
  require(std::any_of(layout.targets.begin(), layout.targets.end(),
                      [&](int64_t place) { return !constant[size_t(place)]; }),
          ErrorKind::BadData, train.name, ": ", quoted_list(targets), " never ",
          targets.size() == 1 ? "changes" : "change", "; nothing can be learnt");
  notes_.insert(notes_.begin(), concat("forecast of ", quoted_list(targets), ", ", layout.horizon,
                                       layout.horizon == 1 ? " step" : " steps", " ahead, from ",
                                       layout.window, layout.window == 1 ? " step" : " steps",
                                       " of ", quoted_list(layout.input_names())));
  layout_ = std::make_shared<const SeriesLayout>(std::move(layout));
}

void SeriesEncoder::fit(const CsvTable& train, const SeriesOptions& options) {
  SeriesEncoder fresh;
  fresh.file_columns_ = train.names;
  SeriesOptions resolved = options;
  resolved.time = choose_time(train, options.time);
  check_asked(train, options.input_columns, resolved.time, options.split);
  check_asked(train, options.target_columns, resolved.time, options.split);
  if (!resolved.time.empty())
    fresh.notes_.push_back(concat("column '", resolved.time, "' names the steps"));
  if (!read_times(train, resolved.time).comparable)
    fresh.notes_.push_back(concat("the order of column '", resolved.time,
                                  "' is not checked: only numbers and yyyy-mm-dd can be compared"));
  fresh.learn(read_candidates(train, resolved, resolved.time, fresh.notes_), resolved);
  *this = std::move(fresh);
}

}  // namespace fovea
