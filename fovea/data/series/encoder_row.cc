// The part of SeriesEncoder for prediction: the end of a table, or steps that a user typed.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/series/column.h"
#include "fovea/data/series/encoder.h"

namespace fovea {

namespace {

using Values = std::vector<std::vector<double>>;

struct TypedSteps {
  Values inputs;                   // per input series [n]
  std::vector<std::string> times;  // [n], or empty
};

/// NaN for the words of csv.md that mean a missing cell.
double cell_number(std::string_view cell, const std::string& series) {
  cell = trim_cell(cell);
  if (is_missing(cell)) return NAN;
  double number = 0;
  require(parse_cell(cell, number), ErrorKind::BadData, "input: series '", series, "' has '", cell,
          "', a number is expected");
  return number;
}

double typed_number(const Json& value, const std::string& series) {
  return cell_number(value.is_string() ? value.get<std::string>() : value.dump(), series);
}

std::vector<double> typed_numbers(const Json& values, const std::string& series) {
  require(values.is_array(), ErrorKind::BadData, "input: series '", series, "' is ", values.dump(),
          "; expected a list of numbers, the oldest first");
  std::vector<double> numbers;
  for (const Json& value : values) numbers.push_back(typed_number(value, series));
  return numbers;
}

/// {"a": [1, 2, …], "b": [3, 4, …]}
TypedSteps read_object(const Json& object, const SeriesLayout& layout,
                       std::span<const std::string> file_columns) {
  NamedCells names;
  for (const auto& [name, values] : object.items()) names[name] = "";
  check_names(names, file_columns);
  TypedSteps steps;
  for (const std::string& name : layout.input_names()) {
    require(object.contains(name), ErrorKind::BadData, "input: series '", name,
            "' is missing; the forecast needs ", quoted_list(layout.input_names()));
    steps.inputs.push_back(typed_numbers(object.at(name), name));
    require(steps.inputs.back().size() == steps.inputs[0].size(), ErrorKind::BadData,
            "input: series '", name, "' has ", steps.inputs.back().size(), " steps, series '",
            layout.series[0], "' has ", steps.inputs[0].size());
  }
  if (layout.time.empty() || !object.contains(layout.time)) return steps;
  const Json& times = object.at(layout.time);
  require(times.is_array() && times.size() == steps.inputs[0].size(), ErrorKind::BadData,
          "input: '", layout.time, "' must be a list with one entry for each of the ",
          steps.inputs[0].size(), " steps");
  for (const Json& time : times)
    steps.times.push_back(time.is_string() ? time.get<std::string>() : time.dump());
  return steps;
}

/// [[1, 3], [2, 4], …] by steps; with one series also [1, 2, …].
TypedSteps read_list(const Json& list, const SeriesLayout& layout) {
  TypedSteps steps;
  const bool flat = !list.empty() && std::none_of(list.begin(), list.end(),
                                                  [](const Json& step) { return step.is_array(); });
  if (flat && layout.inputs == 1) {
    steps.inputs.push_back(typed_numbers(list, layout.series[0]));
    return steps;
  }
  steps.inputs.resize(size_t(layout.inputs));
  for (const Json& step : list) {
    require(step.is_array() && int64_t(step.size()) == layout.inputs, ErrorKind::BadData,
            "input: step ", steps.inputs[0].size() + 1, " is ", step.dump(),
            "; expected a list of ", layout.inputs,
            " numbers: ", quoted_list(layout.input_names()));
    for (size_t i = 0; i < step.size(); ++i)
      steps.inputs[i].push_back(typed_number(step[i], layout.series[i]));
  }
  return steps;
}

/// 1,2,3 for the one series.
TypedSteps read_line(const std::string& line, const SeriesLayout& layout) {
  require(layout.inputs == 1, ErrorKind::BadData,
          "input: a plain line holds one series, the model ", "looks at ", layout.inputs,
          "; write {\"", layout.series[0], "\": [1, 2, …], \"",
          layout.series[1 % layout.series.size()], "\": [3, 4, …]}");
  TypedSteps steps{{{}}, {}};
  for (const std::string& cell : parse_csv_line(line))
    steps.inputs[0].push_back(cell_number(cell, layout.series[0]));
  return steps;
}

}  // namespace

std::shared_ptr<SeriesDataset> SeriesEncoder::last_window(
    Values inputs, std::vector<std::string> times, const std::string& name,
    const std::function<std::string(int64_t step)>& place) const {
  const auto steps = int64_t(inputs[0].size()), first = steps - layout_->window;
  require(first >= 0, ErrorKind::BadData, name, ": ", format_count(steps),
          " steps; the forecast looks at ", format_count(layout_->window));
  SeriesArrays arrays;
  for (size_t i = 0; i < inputs.size(); ++i) {
    arrays.filled_cells += fill_gaps(inputs[i], layout_->maximum_gap);
    for (int64_t step = first; step < steps; ++step)
      if (std::isnan(inputs[i][size_t(step)]))
        fail(ErrorKind::BadData, place(step), ": series '", layout_->series[i],
             "' is missing, in a gap that is longer than ", layout_->maximum_gap,
             " steps or has no known value on one side; fill it in");
  }
  std::vector<int64_t> places(inputs.size());
  std::iota(places.begin(), places.end(), 0);
  arrays.inputs = pack(inputs, places);
  arrays.times = std::move(times);
  arrays.starts = {first};
  return std::make_shared<SeriesDataset>(std::move(arrays), layout_);
}

std::shared_ptr<SeriesDataset> SeriesEncoder::encode_inputs(const CsvTable& table) const {
  Values inputs;
  for (const std::string& name : layout().input_names()) inputs.push_back(read_series(table, name));
  return last_window(std::move(inputs), read_times(table, layout_->time).labels, table.path,
                     [&](int64_t step) { return table.place(step); });
}

Example SeriesEncoder::encode_row(const std::string& text) const {
  const std::string_view trimmed = trim(text);
  require(!trimmed.empty(), ErrorKind::BadData, "the input is empty; expected the last ",
          layout().window, " steps, such as {\"", layout().series[0], "\": [1, 2, …]}");
  TypedSteps steps;
  if (trimmed.front() == '{')
    steps = read_object(parse_json(text, "input"), layout(), file_columns_);
  else if (trimmed.front() == '[')
    steps = read_list(parse_json(text, "input"), layout());
  else
    steps = read_line(std::string(trimmed), layout());
  return last_window(std::move(steps.inputs), std::move(steps.times), "input",
                     [](int64_t step) { return concat("input: step ", step + 1); })
      ->example(0);
}

}  // namespace fovea
