#include "fovea/data/series/steps.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/series/column.h"

namespace fovea {

namespace {

constexpr int64_t kMostMissing = 5;  // one step in so many

struct SeriesRows {
  std::string name;
  std::vector<int64_t> rows;
  std::vector<std::string> labels = {};
  std::vector<double> times = {};
};

/// In the order in which the series first appear.
std::vector<SeriesRows> group_rows(const CsvTable& table, const std::string& series) {
  std::vector<SeriesRows> groups;
  if (series.empty()) {
    groups.push_back({"", std::vector<int64_t>(size_t(table.rows()))});
    std::iota(groups[0].rows.begin(), groups[0].rows.end(), 0);
    return groups;
  }
  const int64_t column = table.column(series);
  std::unordered_map<std::string, size_t> places;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = trim_cell(table.cell(row, column));
    if (is_missing(cell))
      fail(ErrorKind::BadData, table.place(row), ": column '", series,
           "' is empty; it must say which series the row belongs to");
    const auto [found, fresh] = places.emplace(cell, groups.size());
    if (fresh) groups.push_back({std::string(cell), {}});
    groups[found->second].rows.push_back(row);
  }
  return groups;
}

std::vector<std::string> raw_labels(const CsvTable& table, int64_t column,
                                    const std::vector<int64_t>& rows) {
  std::vector<std::string> labels;
  for (const int64_t row : rows) labels.emplace_back(trim_cell(table.cell(row, column)));
  return labels;
}

/// Newest first, as many tables of prices are.
bool descends(std::vector<std::string> labels, const DateFormat* format) {
  for (std::string& label : labels)
    if (const auto written = format ? format->parse(label) : std::nullopt)
      label = format->format(written->in_days());
  const StepTimes times = parse_step_times(labels);
  if (times.values.size() < 3) return false;
  return std::adjacent_find(times.values.begin(), times.values.end(),
                            [](double a, double b) { return a <= b; }) == times.values.end();
}

/// Fills labels and times; false where times cannot be read.
bool read_group_times(const CsvTable& table, const std::string& time, const DateFormat* format,
                      SeriesRows& group, bool& dates, int64_t& reversed) {
  const int64_t column = table.column(time);
  if (descends(raw_labels(table, column, group.rows), format)) {
    std::reverse(group.rows.begin(), group.rows.end());
    ++reversed;
  }
  group.labels = read_times(table.select(group.rows), time, format).labels;
  StepTimes times = parse_step_times(group.labels);
  group.times = std::move(times.values);
  dates = times.dates;
  return std::is_sorted(group.times.begin(), group.times.end()) &&
         group.times.size() == group.labels.size();
}

int64_t count_missing(const std::vector<SeriesRows>& groups, const StepInterval& interval) {
  int64_t missing = 0;
  for (const SeriesRows& group : groups)
    for (size_t i = 1; i < group.times.size(); ++i) {
      const auto steps = interval.steps_between(group.times[i - 1], group.times[i]);
      if (!steps || *steps < 1) return -1;
      missing += *steps - 1;
    }
  return missing;
}

void add_group(SeriesSteps& steps, const SeriesRows& group, bool fill) {
  SeriesBlock block{group.name, steps.size(), 0};
  for (size_t i = 0; i < group.rows.size(); ++i) {
    if (fill && i > 0) {
      const double before = group.times[i - 1];
      const int64_t distance = *steps.interval.steps_between(before, group.times[i]);
      for (int64_t missing = 1; missing < distance; ++missing) {
        const double time = steps.interval.after(before, missing);
        steps.rows.push_back(-1);
        steps.times.push_back(time);
        steps.labels.push_back(format_step_time(time, steps.interval.dates, group.labels[i - 1]));
        ++steps.inserted;
      }
    }
    steps.rows.push_back(group.rows[i]);
    if (!group.labels.empty()) steps.labels.push_back(group.labels[i]);
    if (!group.times.empty()) steps.times.push_back(group.times[i]);
  }
  block.end = steps.size();
  steps.blocks.push_back(block);
}

}  // namespace

SeriesSteps lay_out_steps(const CsvTable& table, const std::string& time, const std::string& series,
                          const StepInterval& given) {
  std::vector<SeriesRows> groups = group_rows(table, series);
  SeriesSteps steps;
  const bool has_time = !time.empty() && table.find(time) >= 0;
  bool readable = has_time, dates = false, fill = false;
  int64_t reversed = 0;
  std::optional<DateFormat> format;
  if (has_time) {
    std::vector<int64_t> all(size_t(table.rows()));
    std::iota(all.begin(), all.end(), 0);
    format = find_date_format(raw_labels(table, table.column(time), all));
  }
  for (SeriesRows& group : groups)
    if (has_time) {
      bool group_dates = false;
      readable = read_group_times(table, time, format ? &*format : nullptr, group, group_dates,
                                  reversed) &&
                 readable;
      dates = dates || group_dates;
    }
  if (format && table.rows() > 0) {
    const std::string first(trim_cell(table.cell(0, table.column(time))));
    steps.notes.push_back(
        concat(table.path, ": the times in column '", time, "' are read as dates: '", first,
               "' is ", format->format(format->parse(first)->in_days()),
               format->is_guess() ? "; day and month could be the other way round" : ""));
  }
  if (reversed > 0)
    steps.notes.push_back(concat(table.path, ": the times in column '", time,
                                 "' descend: the rows are read from the last to the first"));
  if (readable) {
    std::vector<std::vector<double>> times;
    for (const SeriesRows& group : groups) times.push_back(group.times);
    steps.interval = given.known() ? given : find_interval(times, dates);
    const int64_t missing = steps.interval.known() ? count_missing(groups, steps.interval) : -1;
    fill = missing > 0 && missing * kMostMissing <= table.rows() + missing;
    if (fill)
      steps.notes.push_back(concat(
          table.path, ": ", format_count(missing), " of ", format_count(table.rows() + missing),
          " times are missing, ", steps.interval.text(), " apart; they are read as missing steps"));
    else if (missing != 0)
      steps.notes.push_back(concat(table.path, ": the times in column '", time,
                                   "' are not equally far apart; each row is taken as one step"));
    if (missing < 0 && !given.known()) steps.interval = {};
    steps.even = missing == 0 || fill;
  } else {
    for (SeriesRows& group : groups) group.times.clear();
  }
  for (const SeriesRows& group : groups) add_group(steps, group, fill);
  return steps;
}

}  // namespace fovea
