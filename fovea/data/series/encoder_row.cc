// The part of SeriesEncoder for prediction: the end of a table, or steps that a user typed.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/series/column.h"
#include "fovea/data/series/known.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using Values = std::vector<std::vector<double>>;
using TypedSteps = SeriesEncoder::PastSteps;

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

std::string cell_text(const Json& value) {
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

/// The cells of a column that is known: a list over all steps and those to predict, or one value
/// for all.
std::vector<std::string> typed_cells(const Json& object, const KnownColumn& column, size_t count) {
  require(object.contains(column.name), ErrorKind::BadData, "input: '", column.name,
          "' is missing; it is known in advance: give ", count, " values, or one for all");
  const Json& value = object.at(column.name);
  if (!value.is_array()) return std::vector<std::string>(count, cell_text(value));
  require(value.size() >= count, ErrorKind::BadData, "input: '", column.name, "' has ",
          value.size(), " values; it is known in advance: expected ", count,
          ", for the steps that are given and those to predict");
  std::vector<std::string> cells;
  for (size_t i = 0; i < count; ++i) cells.push_back(cell_text(value[i]));
  return cells;
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
  if (!layout.series_column.empty() && object.contains(layout.series_column))
    steps.name = cell_text(object.at(layout.series_column));
  const size_t count = steps.inputs[0].size();
  for (const KnownColumn& column : layout.known)
    steps.known.push_back(typed_cells(object, column, count + size_t(layout.horizon)));
  if (layout.time.empty() || !object.contains(layout.time)) return steps;
  const Json& times = object.at(layout.time);
  require(times.is_array() && times.size() >= count, ErrorKind::BadData, "input: '", layout.time,
          "' must be a list with one entry for each of the ", count, " steps");
  for (size_t i = 0; i < count; ++i) steps.times.push_back(cell_text(times[i]));
  if (const auto format = find_date_format(steps.times))
    for (std::string& time : steps.times)
      if (const auto written = format->parse(time)) time = format->format(written->in_days());
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
  TypedSteps steps;
  steps.inputs.resize(1);
  for (const std::string& cell : parse_csv_line(line))
    steps.inputs[0].push_back(cell_number(cell, layout.series[0]));
  return steps;
}

}  // namespace

/// The cells of known columns are complete, and the calendar can be read.
void SeriesEncoder::check_known(const PastSteps& past, const std::string& name) const {
  require(layout().known.empty() || past.known.size() == layout_->known.size(), ErrorKind::BadData,
          name, ": the forecast needs ", quoted_list(layout_->known_names()),
          ", which are known in advance; write {\"", layout_->series[0], "\": [1, 2, …], \"",
          layout_->known.empty() ? "" : layout_->known[0].name, "\": …}");
  require(layout_->calendar.empty() || past.times.size() == past.inputs[0].size(),
          ErrorKind::BadData, name,
          ": the forecast looks at the calendar: give the times of the "
          "steps in '",
          layout_->time, "'");
}

/// Encodes what is known of the window and of the horizon behind it: [S + T, K].
at::Tensor SeriesEncoder::known_of(const PastSteps& past, const std::string& name) const {
  const int64_t width = layout_->known_width(), S = layout_->window, T = layout_->horizon;
  const auto first = int64_t(past.inputs[0].size()) - S;
  at::Tensor known = torch::zeros({S + T, width}, torch::kFloat32);  // [S + T, K]
  StepTimes times;
  if (!layout_->calendar.empty()) {
    times = parse_step_times(past.times);
    require(times.values.size() == past.times.size() && times.dates, ErrorKind::BadData, name,
            ": the forecast looks at the calendar, but '", past.times.back(),
            "' is no date such as 2014-05-03 17:20");
  }
  float* to = known.data_ptr<float>();
  for (int64_t step = 0; step < S + T; ++step) {
    if (!layout_->calendar.empty()) {
      const double time = step < S ? times.values[size_t(first + step)]
                                   : layout_->interval.after(times.values.back(), step - S + 1);
      to = std::ranges::copy(calendar_features(layout_->calendar, time), to).out;
    }
    for (size_t i = 0; i < layout_->known.size(); ++i) {
      encode_known_cell(layout_->known[i], past.known[i][size_t(first + step)],
                        concat(name, ": step ", first + step + 1), to);
      to += layout_->known[i].width();
    }
  }
  return known;
}

std::shared_ptr<SeriesDataset> SeriesEncoder::last_windows(std::vector<PastSteps> all,
                                                           const std::string& name) const {
  const int64_t S = layout_->window, T = layout_->horizon;
  const auto arrays = std::make_shared<SeriesArrays>();
  SeriesWindows windows;
  std::vector<at::Tensor> inputs, known;
  std::vector<int64_t> places(static_cast<size_t>(layout_->inputs));
  std::iota(places.begin(), places.end(), 0);
  for (PastSteps& past : all) {
    const auto steps = int64_t(past.inputs[0].size()), first = steps - S;
    require(first >= 0, ErrorKind::BadData, name, ": ",
            past.name.empty() ? "" : concat("series '", past.name, "': "), format_count(steps),
            " steps; the forecast looks at ", format_count(S));
    check_known(past, name);
    for (size_t i = 0; i < past.inputs.size(); ++i) {
      windows.filled_cells += fill_gaps(past.inputs[i], layout_->maximum_gap);
      for (int64_t step = first; step < steps; ++step)
        if (std::isnan(past.inputs[i][size_t(step)]))
          fail(ErrorKind::BadData, past.place(step), ": series '", layout_->series[i],
               "' is missing, in a gap that is longer than ", layout_->maximum_gap,
               " steps or has no known value on one side; fill it in");
    }
    const std::vector<SeriesBlock> block{{past.name, 0, steps}};
    SeriesArrays own;
    add_scales(own, block, past.inputs);
    arrays->names.push_back(past.name);
    arrays->scales.push_back(own.scales[0]);
    inputs.push_back(pack(past.inputs, places, block, own).narrow(0, first, S));
    inputs.push_back(torch::full({T, layout_->inputs}, NAN));
    if (layout_->known_width() > 0) known.push_back(known_of(past, name));
    for (int64_t step = first; step < steps && !past.times.empty(); ++step)
      arrays->times.push_back(past.times[size_t(step)]);
    arrays->times.resize(arrays->times.empty() ? 0 : arrays->times.size() + size_t(T));
    windows.left_out.push_back(first);
    windows.blocks.push_back(int64_t(windows.starts.size()));
    windows.starts.push_back(int64_t(windows.starts.size()) * (S + T));
  }
  arrays->inputs = torch::cat(inputs);                    // [G (S + T), F]
  if (!known.empty()) arrays->known = torch::cat(known);  // [G (S + T), K]
  return std::make_shared<SeriesDataset>(arrays, std::move(windows), layout_);
}

std::shared_ptr<SeriesDataset> SeriesEncoder::encode_inputs(const CsvTable& table) const {
  const SeriesSteps steps =
      lay_out_steps(table, layout().time, layout_->series_column, layout_->interval);
  Values values;
  for (const std::string& name : layout_->input_names())
    values.push_back(read_series(table, name, layout_->format_of(name)));
  const bool has_future = std::ranges::any_of(
      layout_->known, [](const KnownColumn& column) { return !column.is_static; });
  const auto is_empty = [&](int64_t step) {
    const int64_t row = steps.rows[size_t(step)];
    return row < 0 || std::ranges::all_of(values, [&](const std::vector<double>& own) {
             return std::isnan(own[size_t(row)]);
           });
  };
  std::vector<PastSteps> all;
  for (const SeriesBlock& block : steps.blocks) {
    PastSteps& past = all.emplace_back();
    int64_t end = block.end;
    while (has_future && end > block.begin && is_empty(end - 1)) --end;
    require(!has_future || block.end - end >= layout_->horizon, ErrorKind::BadData, table.path,
            ": the forecast needs what is known of the ", layout_->horizon,
            " steps to predict: add their rows, with ", quoted_list(layout_->known_names()),
            " filled in and ", quoted_list(layout_->input_names()), " left empty");
    past.name = block.name;
    past.place = [&table, &steps, block](int64_t step) {
      const int64_t row = steps.rows[size_t(block.begin + step)];
      return row < 0 ? concat(table.path, ": ", steps.labels[size_t(block.begin + step)])
                     : table.place(row);
    };
    for (const std::vector<double>& own : values) {
      std::vector<double>& to = past.inputs.emplace_back();
      for (int64_t step = block.begin; step < end; ++step) {
        const int64_t row = steps.rows[size_t(step)];
        to.push_back(row < 0 ? NAN : own[size_t(row)]);
      }
    }
    if (!steps.labels.empty())
      past.times.assign(steps.labels.begin() + block.begin, steps.labels.begin() + end);
    for (const KnownColumn& known : layout_->known) {
      const int64_t column = table.column(known.name);
      std::vector<std::string>& cells = past.known.emplace_back();
      for (int64_t step = block.begin, row = 0; step < end + layout_->horizon; ++step) {
        if (step < block.end && steps.rows[size_t(step)] >= 0) row = steps.rows[size_t(step)];
        cells.emplace_back(table.cell(row, column));
      }
    }
  }
  return last_windows(std::move(all), table.path);
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
  steps.place = [](int64_t step) { return concat("input: step ", step + 1); };
  std::vector<PastSteps> one;
  one.push_back(std::move(steps));
  return last_windows(std::move(one), "input")->example(0);
}

}  // namespace fovea
