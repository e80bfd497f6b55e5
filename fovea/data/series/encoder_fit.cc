// The half of SeriesEncoder that learns; encoder.cc is the half that applies what was learnt.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/series/column.h"
#include "fovea/data/series/known.h"

namespace fovea {

namespace {

using Names = std::vector<std::string>;

constexpr int64_t kUsualHorizon = 6;   // where nothing repeats itself
constexpr int64_t kUsualWindow = 336;  // at most, where a season is not longer

/// Columns of numbers of the training rows.
struct SeriesNumbers {
  Names columns;
  std::vector<std::vector<double>> values;  // per column, NaN where missing
  std::map<std::string, NumberFormat> formats;
};

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Names trimmed_column(const CsvTable& table, int64_t column) {
  Names cells;
  for (int64_t row = 0; row < table.rows(); ++row)
    cells.emplace_back(trim_cell(table.cell(row, column)));
  return cells;
}

/// Every cell is a date: the year alone, or a number of any kind, is none.
bool holds_dates(const CsvTable& table, int64_t column) {
  if (table.rows() == 0) return false;
  double number = 0;
  const std::string first(trim_cell(table.cell(0, column)));
  if (is_missing(first) || parse_cell(first, number)) return false;
  const Names cells = trimmed_column(table, column);
  return parse_step_times(cells).dates || find_date_format(cells).has_value();
}

/// The first column that counts the rows: 1949, 1950, …; by any name where it counts years, or
/// seconds or milliseconds since 1970, which may leave some out.
bool counts_rows(const CsvTable& table) {
  constexpr std::array kCounters = {"",    "unnamed: 0", "index",  "year", "month", "week",
                                    "day", "hour",       "period", "step", "row",   "t"};
  if (table.rows() < 3 || table.names.size() < 2) return false;
  const SeriesColumn read = read_series_column(table, 0);
  const std::vector<double>& values = read.values;
  if (read.numbers < table.rows()) return false;
  const double step = values[1] - values[0];
  bool ascends = true, whole = true;
  int64_t steps = 0;
  for (size_t row = 1; row < values.size(); ++row) {
    steps += values[row] - values[row - 1] == step;
    ascends = ascends && values[row] > values[row - 1];
    whole = whole && values[row] == std::floor(values[row]);
  }
  const bool even = step > 0 && steps + 1 == table.rows();
  const auto within = [&](double low, double high) {
    return values.front() >= low && values.back() <= high;
  };
  const bool years = step == 1 && within(1500, 2200);
  const bool seconds = within(3e8, 4.2e9) || within(3e11, 4.2e12);
  const bool named = std::ranges::find(kCounters, lower_ascii(table.names[0])) != kCounters.end();
  return (even && (named || years)) || (ascends && whole && seconds && 2 * steps >= table.rows());
}

/// Whether times begin anew where the column's cell changes: rows of several series.
bool parts_times(const CsvTable& table, int64_t column, int64_t time) {
  std::map<std::string, std::set<std::string>> seen;
  bool repeated = false;
  std::set<std::string> all;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string name(trim_cell(table.cell(row, column)));
    const std::string label(trim_cell(table.cell(row, time)));
    if (!seen[name].insert(label).second) return false;  // no time twice in one series
    repeated = !all.insert(label).second || repeated;
  }
  return repeated && seen.size() > 1;
}

/// Words, or whole numbers, that come back in at least kStepsOfSeries rows each on average.
bool may_name_series(const CsvTable& table, int64_t column, bool words) {
  constexpr int64_t kStepsOfSeries = 5;
  std::set<std::string> names;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string cell(trim_cell(table.cell(row, column)));
    double number = 0;
    const bool is_number = parse_cell(cell, number);
    if (is_missing(cell) || is_number == words || (is_number && number != std::floor(number)))
      return false;
    names.insert(cell);
    if (int64_t(names.size()) * kStepsOfSeries > table.rows()) return false;
  }
  return names.size() > 1;
}

/// The name of the column that says which series a row belongs to, or "": one of the usual names,
/// or the first that tells apart rows of one time. `taken` are those with another role.
std::string choose_series(const CsvTable& table, const std::string& wanted, const std::string& time,
                          const Names& taken) {
  if (wanted == "none") return "";
  if (!wanted.empty()) return table.names[size_t(table.column(wanted))];
  if (time.empty()) return "";
  const int64_t times = table.column(time);
  for (const std::string usual : {"series", "series_id", "unique_id", "item_id", "id"})
    if (const int64_t column = table.find(usual);
        column >= 0 && usual != time && parts_times(table, column, times))
      return usual;
  const Names cells = trimmed_column(table, times);
  if (std::set<std::string>(cells.begin(), cells.end()).size() == cells.size()) return "";
  for (const bool words : {true, false})
    for (size_t column = 0; column < table.names.size(); ++column)
      if (const std::string& name = table.names[column];
          name != time && !holds(taken, name) && may_name_series(table, int64_t(column), words) &&
          parts_times(table, int64_t(column), times))
        return name;
  return "";
}

/// The time column's name, or "": one of the usual names, one that holds dates in order, or one
/// that counts the rows.
std::string choose_time(const CsvTable& table, const std::string& wanted, const Names& taken) {
  if (wanted == "none") return "";
  if (!wanted.empty()) return table.names[size_t(table.column(wanted))];
  for (const std::string usual : {"time", "date", "datetime", "timestamp", "ds"})
    for (const std::string& name : table.names)
      if (lower_ascii(name) == usual) return name;
  for (size_t column = 0; column < table.names.size(); ++column) {
    const std::string& name = table.names[column];
    if (holds(taken, name) || !holds_dates(table, int64_t(column))) continue;
    Names cells = trimmed_column(table, int64_t(column));
    if (const auto format = find_date_format(cells))
      for (std::string& cell : cells) cell = format->format(format->parse(cell)->in_days());
    const std::vector<double> times = parse_step_times(cells).values;
    if (std::is_sorted(times.begin(), times.end()) ||
        std::is_sorted(times.rbegin(), times.rend()) ||
        !choose_series(table, "", name, taken).empty())
      return name;
  }
  return counts_rows(table) && !holds(taken, table.names[0]) ? table.names[0] : "";
}

/// What each column is for, besides being a series.
struct ColumnRoles {
  std::string time, split, series;
  Names known, fixed;

  const char* role_of(const std::string& name) const {
    return name == time         ? "the time"
           : name == split      ? "the split"
           : name == series     ? "the name of the series"
           : holds(known, name) ? "known in advance"
           : holds(fixed, name) ? "static"
                                : nullptr;
  }
};

/// A column with a role of its own is no series.
void check_asked(const CsvTable& table, const Names& asked, const ColumnRoles& roles) {
  for (const std::string& name : asked) {
    table.column(name);
    const char* role = roles.role_of(name);
    require(role == nullptr, ErrorKind::InvalidArgument, "column '", name, "' is ",
            role ? role : "", ": it cannot be a series as well");
  }
}

/// How long windows and horizons are where nothing is said: a season ahead, from several seasons,
/// as far as `steps` training steps have room for many windows.
void choose_lengths(SeriesLayout& layout, int64_t steps) {
  const int64_t season = layout.season;
  if (layout.horizon == 0)
    layout.horizon = std::clamp<int64_t>(season > 1 ? season : kUsualHorizon, 1,
                                         std::max<int64_t>(1, steps / 8));
  if (layout.window > 0) return;
  const int64_t wanted = std::max({steps / 20, 4 * season, 2 * layout.horizon});
  const int64_t most = std::min(std::max(kUsualWindow, 4 * season), steps / 3);
  layout.window = std::max<int64_t>(1, std::min(wanted, most));
}

void check_once(const Names& names, const char* role) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    require(seen.insert(name).second, ErrorKind::InvalidArgument, "column '", name,
            "' is named twice among the ", role);
}

/// The columns to read: those asked for, or all that are neither time nor split.
Names candidates(const CsvTable& table, const SeriesOptions& options, const ColumnRoles& roles) {
  Names names = options.input_columns;
  if (names.empty()) {
    for (const std::string& name : table.names)
      if (roles.role_of(name) == nullptr) names.push_back(name);
  } else {
    for (const std::string& name : options.target_columns)
      if (!holds(names, name)) names.push_back(name);
  }
  return names;
}

/// Reads the candidates. A column of text is noted and left out, unless it was asked for by name or
/// looks like numbers with a slip: fewer than one cell in ten is text.
SeriesNumbers read_candidates(const CsvTable& table, const SeriesOptions& options,
                              const ColumnRoles& roles, Names& notes) {
  SeriesNumbers numbers;
  for (const std::string& name : candidates(table, options, roles)) {
    const bool asked = holds(options.input_columns, name) || holds(options.target_columns, name);
    const int64_t column = table.column(name);
    SeriesColumn read = read_series_column(table, column);
    if (read.texts > 0) {  // numbers as people write them
      const Names cells = trimmed_column(table, column);
      const std::vector<std::string_view> texts(cells.begin(), cells.end());
      if (const auto format = NumberFormat::infer(texts, table.delimiter)) {
        notes.push_back(
            concat("column '", name, "': ", format->sentence(cells[size_t(read.first_text)])));
        read = read_series_column(table, column, &*format);
        numbers.formats.emplace(name, *format);
      }
    }
    if (read.texts > 0) {
      if (asked || read.texts * 10 < read.texts + read.numbers)
        refuse_text(table, read.first_text, column);
      notes.push_back(concat("column '", name, "' is left out: '",
                             table.cell(read.first_text, column), "' at ",
                             table.place(read.first_text),
                             " is not a number; if it is known in advance, as a holiday is: ",
                             "--columns known=", name));
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

size_t find_series(const SeriesNumbers& numbers, const std::string& name, const std::string& path) {
  const auto found = std::find(numbers.columns.begin(), numbers.columns.end(), name);
  require(found != numbers.columns.end(), ErrorKind::NotFound, path, " has no series '", name, "'",
          suggestion(name, numbers.columns), "; it has ", quoted_list(numbers.columns));
  return size_t(found - numbers.columns.begin());
}

}  // namespace

void SeriesEncoder::fit(const CsvTable& table, const SeriesOptions& given, const Cut& cut) {
  SeriesEncoder fresh;
  Names& notes = fresh.notes_;
  fresh.file_columns_ = table.names;
  SeriesOptions options = given;
  check_once(options.input_columns, "inputs");
  check_once(options.target_columns, "targets");
  require(options.stride >= 1 && options.window >= 0 && options.horizon >= 0,
          ErrorKind::InvalidArgument, "window ", options.window, ", horizon ", options.horizon,
          " and stride ", options.stride, " cannot be; a stride is at least 1");
  ColumnRoles roles;
  roles.split = options.split;
  roles.known = options.known_columns;
  roles.fixed = options.static_columns;
  Names taken{options.split, options.series};
  for (const Names* names :
       {&options.input_columns, &options.target_columns, &roles.known, &roles.fixed})
    taken.insert(taken.end(), names->begin(), names->end());
  roles.time = choose_time(table, options.time, taken);
  roles.series = choose_series(table, options.series, roles.time, taken);
  check_asked(table, options.input_columns, roles);
  check_asked(table, options.target_columns, roles);
  for (const Names* names : {&roles.known, &roles.fixed})
    for (const std::string& name : *names) table.column(name);
  require(roles.fixed.empty() || !roles.series.empty(), ErrorKind::InvalidArgument,
          "data.static_columns says what is the same in all rows of a series: name the column that "
          "says which series a row belongs to with --columns series=…");
  if (!roles.time.empty()) notes.push_back(concat("column '", roles.time, "' names the steps"));
  SeriesSteps steps = lay_out_steps(table, roles.time, roles.series);
  if (!roles.time.empty() && steps.times.empty())
    notes.push_back(concat("the order of column '", roles.time,
                           "' is not checked: it holds neither numbers nor dates"));
  if (!roles.series.empty())
    notes.push_back(concat("column '", roles.series, "' says which of ",
                           format_count(int64_t(steps.blocks.size())), " series a row belongs to"));

  // The training steps, and their rows in the table.
  std::vector<SeriesBlock> train;
  std::vector<int64_t> rows;
  for (const SeriesBlock& block : steps.blocks) {
    train.push_back(
        {block.name, block.begin, block.begin + (cut ? cut(block.size()).train : block.size())});
    for (int64_t step = train.back().begin; step < train.back().end; ++step)
      if (steps.rows[size_t(step)] >= 0) rows.push_back(steps.rows[size_t(step)]);
  }
  const SeriesNumbers numbers = read_candidates(table.select(rows), options, roles, notes);

  SeriesLayout layout;
  layout.time = roles.time;
  layout.series_column = roles.series;
  layout.window = options.window;
  layout.horizon = options.horizon;
  layout.stride = options.stride;
  layout.maximum_gap = options.maximum_gap;
  if (steps.even) layout.interval = steps.interval;  // else nobody knows when the next step is
  layout.formats = numbers.formats;
  layout.series = options.input_columns.empty() ? numbers.columns : options.input_columns;
  layout.inputs = int64_t(layout.series.size());
  const Names targets = options.target_columns.empty() ? layout.series : options.target_columns;
  for (const std::string& name : targets) {
    auto found = std::find(layout.series.begin(), layout.series.end(), name);
    if (found == layout.series.end()) found = layout.series.insert(found, name);
    layout.targets.push_back(found - layout.series.begin());
  }
  const bool standardise = options.standardise != "no";
  std::vector<bool> constant;
  for (const std::string& name : layout.series) {
    const std::vector<double>& values = numbers.values[find_series(numbers, name, table.path)];
    bool same = false;
    const SeriesScale scale = fit_series_scale(values, &same);
    layout.means.push_back(standardise ? scale.mean : 0);
    layout.deviations.push_back(standardise ? scale.deviation : 1);
    constant.push_back(same);
    if (same) notes.push_back(concat("series '", name, "' is always ", format_number(scale.mean)));
    size_t first = 0;  // rows of the training part, block after block
    for (const SeriesBlock& block : train) {
      size_t count = 0;
      for (int64_t step = block.begin; step < block.end; ++step)
        count += steps.rows[size_t(step)] >= 0;
      if (!roles.series.empty() && standardise)
        layout.scales[block.name].push_back(
            fit_series_scale(std::span(values).subspan(first, count)));
      first += count;
    }
  }
  require(std::any_of(layout.targets.begin(), layout.targets.end(),
                      [&](int64_t place) { return !constant[size_t(place)]; }),
          ErrorKind::BadData, table.path, ": ", quoted_list(targets), " never ",
          targets.size() == 1 ? "changes" : "change", "; nothing can be learnt");

  const auto longest = std::max_element(
      train.begin(), train.end(),
      [](const SeriesBlock& a, const SeriesBlock& b) { return a.size() < b.size(); });
  layout.season = options.season;
  if (layout.season == 0) {
    const int64_t by_calendar = steps.even ? calendar_season(steps.interval) : 1;
    const std::vector<double>& first = numbers.values[find_series(numbers, targets[0], table.path)];
    const size_t own =
        roles.series.empty() ? first.size() : std::min(first.size(), size_t(train[0].size()));
    layout.season = by_calendar > 1 ? by_calendar : find_season(std::span(first).first(own));
    notes.push_back(
        layout.season == 1
            ? std::string("no season was found; the naive baseline repeats the last step")
            : concat("season of ", layout.season, " steps, ",
                     by_calendar > 1 ? concat("by steps that are ", steps.interval.text(), " apart")
                                     : std::string("by autocorrelation"),
                     "; data.season=… sets another"));
  }
  choose_lengths(layout, longest->size());
  if (options.calendar != "no" && layout.interval.known())
    layout.calendar = calendar_cycles(layout.interval, longest->size());
  require(options.calendar != "yes" || !layout.calendar.empty(), ErrorKind::InvalidArgument,
          "data.calendar=yes, but ",
          roles.time.empty() ? "there is no time column" : "the times say nothing of the calendar",
          "; dates such as 2014-05-03 17:20 do, once training covers two days, weeks or years");
  if (!layout.calendar.empty())
    notes.push_back(concat("known in advance, from column '", roles.time,
                           "': ", join(layout.calendar), " (data.calendar=no leaves them out)"));
  for (const Names* names : {&roles.known, &roles.fixed})
    for (const std::string& name : *names) {
      std::vector<std::string_view> cells;
      for (const int64_t row : rows) cells.push_back(table.cell(row, table.column(name)));
      layout.known.push_back(fit_known_column(name, names == &roles.fixed, cells, notes));
    }
  notes.insert(notes.begin(), concat("forecast of ", quoted_list(targets), ", ", layout.horizon,
                                     layout.horizon == 1 ? " step" : " steps", " ahead, from ",
                                     layout.window, layout.window == 1 ? " step" : " steps", " of ",
                                     quoted_list(layout.input_names())));
  fresh.layout_ = std::make_shared<const SeriesLayout>(std::move(layout));
  *this = std::move(fresh);
}

}  // namespace fovea
