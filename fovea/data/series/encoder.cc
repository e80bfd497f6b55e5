#include "fovea/data/series/encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/series/column.h"
#include "fovea/data/series/known.h"
#include "fovea/data/source.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr double kMaxSteps = 65536;  // of a window; attention over it is quadratic at worst
constexpr double kMaxStride = 1e9;

/// For each step how many steps before it lack a value; one entry more than there are steps.
std::vector<int64_t> incomplete_before(const at::Tensor& values) {
  const int64_t steps = values.size(0), width = values.size(1);
  std::vector<int64_t> before(size_t(steps) + 1, 0);
  const float* value = values.data_ptr<float>();
  for (int64_t step = 0; step < steps; ++step, value += width) {
    const bool incomplete =
        std::any_of(value, value + width, [](float x) { return std::isnan(x); });
    before[size_t(step) + 1] = before[size_t(step)] + int64_t(incomplete);
  }
  return before;
}

/// `length` steps of `values` [N, K] from each of the `starts`.
at::Tensor gather(const at::Tensor& values, std::span<const int64_t> starts, int64_t length) {
  const int64_t width = values.size(1);
  at::Tensor gathered =
      torch::empty({int64_t(starts.size()), length, width}, values.options());  // [B, length, K]
  const float* from = values.data_ptr<float>();
  float* to = gathered.data_ptr<float>();
  for (const int64_t start : starts) {
    std::memcpy(to, from + start * width, size_t(length * width) * sizeof(float));
    to += length * width;
  }
  return gathered;
}

std::vector<Axis> make_axes(const SeriesLayout& layout, std::span<const std::string> times) {
  std::vector<std::string> source(times.begin(), times.end()), target;
  for (int64_t step = 0; times.empty() && step < layout.window; ++step)
    source.push_back(concat("t-", layout.window - 1 - step));
  for (int64_t step = 1; step <= layout.horizon; ++step) target.push_back(concat("t+", step));
  std::vector<Axis> axes{Axis{"source", "step", std::move(source)},
                         Axis{"target", "step", std::move(target)}};
  axes[1].output = true;
  return axes;
}

}  // namespace

void SeriesOptions::describe(OptionList& list) {
  list.add("input_columns", input_columns, "series to look at; empty: all columns of numbers");
  list.add("target_columns", target_columns, "series to predict; empty: all inputs");
  list.add("known_columns", known_columns,
           "columns that are known in advance, such as holiday,promotion: numbers or words");
  list.add("static_columns", static_columns,
           "columns that are the same in all rows of a series, such as region: numbers or words");
  list.add(
      "series", series,
      "column that says which series a row belongs to, where rows of several stand in one file; "
      "empty: one called series, series_id, unique_id, item_id or id, if times begin anew there; "
      "none: there is no such column");
  list.add(
      "time", time,
      "column that names the steps; empty: one called time, date, datetime or timestamp; none: "
      "there is no such column");
  list.add("split", split,
           "column that says train, val or test; empty: one called split, if its cells say so");
  list.add("window", window, "steps that are looked at; 0: by the season and the number of steps")
      .within(0, kMaxSteps);
  list.add("horizon", horizon, "steps that are predicted; 0: a season, or 6").within(0, kMaxSteps);
  list.add("season", season,
           "steps after which a series repeats itself, for the baseline: 24 for hours; 0: by the "
           "time "
           "column, or else by autocorrelation")
      .within(0, kMaxSteps);
  list.add("stride", stride, "steps from the start of one window to the next")
      .within(1, kMaxStride);
  list.add("maximum_gap", maximum_gap,
           "missing steps in a row that are interpolated; windows with a longer gap are left out")
      .at_least(0);
  list.add("calendar", calendar,
           "hour, weekday, day of the month and month as inputs that are known in advance, as far "
           "as "
           "the time column tells them apart and training covers each twice; auto: yes")
      .choices({"auto", "yes", "no"});
  list.add("standardise", standardise,
           "mean 0 and deviation 1 for each series of the training split; auto: yes, unless "
           "dataset.json says no; no for the built-in data")
      .choices({"auto", "yes", "no"});
  list.add(
      "look_back", look_back,
      "a file that is cut in time: validation and test windows begin in the steps before their "
      "split, so that its first step is forecast too; no: each split is on its own");
  describe_share(
      list, "validation_fraction", validation_fraction,
      "share of the steps, after the training steps, when the data has no validation split");
  describe_share(list, "test_fraction", test_fraction,
                 "share of the steps, the last ones, of data without splits");
  list.add("train_steps", train_steps,
           "steps for training instead of what the fractions leave, of data without splits; steps "
           "behind those of the test are left out")
      .at_least(0);
  list.add("validation_steps", validation_steps, "steps for validation instead of the fraction")
      .at_least(0);
  list.add("test_steps", test_steps, "steps for the test instead of the fraction").at_least(0);
}

TimeSplit SeriesOptions::cut(int64_t steps, bool with_test) const {
  TimeSplit split = split_in_time(steps, validation_fraction, with_test ? test_fraction : 0);
  const auto taken = [&] { return split.validation + split.test; };
  if (validation_steps > 0) split.validation = validation_steps;
  if (test_steps > 0 && with_test) split.test = test_steps;
  split.train = train_steps > 0 ? train_steps : steps - taken();
  require(split.train > 0 && split.train <= steps - taken(), ErrorKind::InvalidArgument,
          "data.train_steps, validation_steps and test_steps ask for ", format_count(split.train),
          " + ", format_count(split.validation), " + ", format_count(split.test),
          " steps, but the series has ", format_count(steps));
  return split;
}

std::vector<std::string> SeriesLayout::input_names() const {
  return {series.begin(), series.begin() + inputs};
}

std::vector<std::string> SeriesLayout::target_names() const {
  std::vector<std::string> names;
  for (const int64_t place : targets) names.push_back(series[size_t(place)]);
  return names;
}

std::vector<std::string> SeriesLayout::known_names() const {
  std::vector<std::string> names;
  for (const KnownColumn& column : known) names.push_back(column.name);
  return names;
}

int64_t SeriesLayout::known_width() const {
  auto width = int64_t(calendar.size()) * 2;
  for (const KnownColumn& column : known) width += column.width();
  return width;
}

const NumberFormat* SeriesLayout::format_of(const std::string& name) const {
  const auto found = formats.find(name);
  return found == formats.end() ? nullptr : &found->second;
}

std::vector<SeriesScale> SeriesLayout::scales_of(const std::string& name) const {
  if (const auto found = scales.find(name); found != scales.end()) return found->second;
  std::vector<SeriesScale> common;
  for (size_t i = 0; i < series.size(); ++i) common.push_back({means[i], deviations[i]});
  return common;
}

SeriesDataset::SeriesDataset(std::shared_ptr<const SeriesArrays> arrays, SeriesWindows windows,
                             std::shared_ptr<const SeriesLayout> layout)
    : arrays_(std::move(arrays)), windows_(std::move(windows)), layout_(std::move(layout)) {}

int64_t SeriesDataset::start(int64_t row) const {
  require(row >= 0 && row < size(), ErrorKind::InvalidArgument, "row ", row, " is not in 0 … ",
          size() - 1);
  return windows_.starts[size_t(row)];
}

void SeriesDataset::set_truth(std::span<const int64_t> positions) {
  require(int64_t(positions.size()) == layout_->horizon, ErrorKind::Internal, "the truth has ",
          positions.size(), " positions for ", layout_->horizon, " outputs");
  truth_ = torch::zeros({layout_->horizon, layout_->window}, torch::kBool);  // [T, S]
  for (size_t step = 0; step < positions.size(); ++step)
    if (positions[step] >= 0)
      truth_.data_ptr<bool>()[int64_t(step) * layout_->window + positions[step]] = true;
}

Example SeriesDataset::example(int64_t row) const {
  const int64_t begin = start(row);
  const auto block = size_t(windows_.blocks[size_t(row)]);
  Example example;
  for (const auto& [name, tensor] : batch({&row, 1}).tensors)
    if (!name.ends_with(".keep")) example.tensors[name] = tensor[0];
  std::span<const std::string> times = arrays_->times;
  if (!times.empty()) times = times.subspan(size_t(begin), size_t(layout_->window));
  example.axes = make_axes(*layout_, times);
  if (!layout_->series_column.empty())
    example.axes.push_back({"series", "series", {arrays_->names[block]}});
  if (truth_.defined()) example.truth["attention"] = truth_;
  if (!windows_.left_out.empty())
    example.add_cut("steps", layout_->window, windows_.left_out[size_t(row)]);
  return example;
}

Batch SeriesDataset::batch(std::span<const int64_t> rows) const {
  std::vector<int64_t> begins, ends;
  std::vector<at::Tensor> scales;
  for (const int64_t row : rows) {
    begins.push_back(start(row));
    ends.push_back(begins.back() + layout_->window);
    scales.push_back(arrays_->scales[size_t(windows_.blocks[size_t(row)])]);
  }
  Batch batch;
  batch.size = int64_t(rows.size());
  batch.tensors["source"] = gather(arrays_->inputs, begins, layout_->window);  // [B, S, F]
  batch.tensors["source.keep"] =
      torch::ones({batch.size, layout_->window}, torch::kBool);  // [B, S]
  if (arrays_->targets.defined()) {
    batch.tensors["target"] = gather(arrays_->targets, ends, layout_->horizon);  // [B, T, O]
    batch.tensors["target.keep"] =
        torch::ones({batch.size, layout_->horizon}, torch::kBool);  // [B, T]
  }
  if (arrays_->known.defined())
    batch.tensors["known"] =
        gather(arrays_->known, begins, layout_->window + layout_->horizon);  // [B, S + T, K]
  if (!layout_->series_column.empty()) {
    at::Tensor series = torch::empty({batch.size}, torch::kInt64);  // [B]
    for (size_t i = 0; i < rows.size(); ++i)
      series.data_ptr<int64_t>()[i] = windows_.blocks[size_t(rows[i])];
    batch.tensors["series"] = series;
  }
  if (!scales.empty()) batch.tensors["scale"] = torch::stack(scales);  // [B, 2, series]
  return batch;
}

Batch collate_series(std::span<const Example> examples) {
  Batch batch;
  batch.size = int64_t(examples.size());
  if (examples.empty()) return batch;
  for (const auto& [name, first] : examples[0].tensors) {
    if (name == "target") continue;
    std::vector<at::Tensor> rows;
    for (const Example& example : examples) {
      const at::Tensor& own = example.tensors.at(name);
      require(own.sizes() == first.sizes(), ErrorKind::InvalidArgument, "an input has '", name,
              "' of shape ", own.sizes(), ", another ", first.sizes());
      rows.push_back(own);
    }
    batch.tensors[name] = torch::stack(rows);  // [B, …]
  }
  batch.tensors["source.keep"] =
      torch::ones({batch.size, batch.tensors["source"].size(1)}, torch::kBool);  // [B, S]
  return batch;
}

const SeriesLayout& SeriesEncoder::layout() const {
  require(fitted(), ErrorKind::Internal, "the series encoder was neither fitted nor loaded");
  return *layout_;
}

double SeriesEncoder::original(double value, int64_t series) const {
  require(series >= 0 && series < int64_t(layout().series.size()), ErrorKind::InvalidArgument,
          "series ", series, " is not in 0 … ", int64_t(layout().series.size()) - 1);
  return value * layout_->deviations[size_t(series)] + layout_->means[size_t(series)];
}

void SeriesEncoder::add_scales(SeriesArrays& arrays, std::span<const SeriesBlock> blocks,
                               const Values& values) const {
  for (const SeriesBlock& block : blocks) {
    std::vector<SeriesScale> scales = layout_->scales_of(block.name);
    // A series that training did not see is measured by what is there of it.
    if (!layout_->series_column.empty() && !layout_->scales.contains(block.name) &&
        !layout_->scales.empty())
      for (size_t i = 0; i < std::min(values.size(), scales.size()); ++i)
        scales[i] = fit_series_scale(
            std::span(values[i]).subspan(size_t(block.begin), size_t(block.size())));
    at::Tensor scale = torch::empty({2, int64_t(scales.size())}, torch::kFloat64);  // [2, series]
    for (size_t i = 0; i < scales.size(); ++i) {
      scale[0][int64_t(i)] = scales[i].mean;
      scale[1][int64_t(i)] = scales[i].deviation;
    }
    arrays.names.push_back(block.name);
    arrays.scales.push_back(scale);
  }
}

at::Tensor SeriesEncoder::pack(const Values& series, std::span<const int64_t> places,
                               std::span<const SeriesBlock> blocks,
                               const SeriesArrays& arrays) const {
  const auto steps = int64_t(series[0].size()), width = int64_t(places.size());
  at::Tensor packed = torch::empty({steps, width}, torch::kFloat32);  // [N, K]
  float* values = packed.data_ptr<float>();
  for (size_t b = 0; b < blocks.size(); ++b) {
    const double* means = arrays.scales[b].data_ptr<double>();
    const double* deviations = means + arrays.scales[b].size(1);
    for (int64_t column = 0; column < width; ++column) {
      const auto place = size_t(places[size_t(column)]);
      for (int64_t step = blocks[b].begin; step < blocks[b].end; ++step)
        values[step * width + column] =
            float((series[place][size_t(step)] - means[place]) / deviations[place]);
    }
  }
  return packed;
}

at::Tensor SeriesEncoder::pack_known(const CsvTable& table, const SeriesSteps& steps) const {
  const int64_t width = layout_->known_width();
  if (width == 0) return {};
  require(layout_->calendar.empty() || !steps.times.empty(), ErrorKind::BadData, table.path,
          ": the forecast looks at the calendar, but the times in column '", layout_->time,
          "' cannot be read; they must be dates such as 2014-05-03 17:20");
  at::Tensor packed = torch::zeros({steps.size(), width}, torch::kFloat32);  // [N, K]
  std::vector<int64_t> columns;
  for (const KnownColumn& column : layout_->known) columns.push_back(table.column(column.name));
  float* to = packed.data_ptr<float>();
  int64_t row = 0;  // the last one that there was
  for (int64_t step = 0; step < steps.size(); ++step, to += width) {
    if (steps.rows[size_t(step)] >= 0) row = steps.rows[size_t(step)];
    float* at = to;
    if (!layout_->calendar.empty())
      at = std::ranges::copy(calendar_features(layout_->calendar, steps.times[size_t(step)]), at)
               .out;
    for (size_t i = 0; i < columns.size(); ++i) {
      encode_known_cell(layout_->known[i], table.cell(row, columns[i]), table.place(row), at);
      at += layout_->known[i].width();
    }
  }
  return packed;
}

SeriesWindows SeriesEncoder::find_windows(const SeriesArrays& arrays, const SeriesBlock& split,
                                          const SeriesBlock& block, int64_t block_number,
                                          bool look_back) const {
  SeriesWindows windows;
  windows.steps = split.size();
  const int64_t S = layout_->window, T = layout_->horizon;
  const int64_t first = look_back ? std::max(block.begin, split.begin - S) : split.begin;
  const int64_t last = split.end - S - T;
  if (last < first) return windows;
  const int64_t length = split.end - first;
  const std::vector<int64_t> no_input = incomplete_before(arrays.inputs.narrow(0, first, length));
  const std::vector<int64_t> no_target = incomplete_before(arrays.targets.narrow(0, first, length));
  for (int64_t start = first; start <= last; start += layout_->stride) {
    const auto begin = size_t(start - first), middle = begin + size_t(S);
    const bool complete =
        no_input[begin] == no_input[middle] && no_target[middle] == no_target[middle + size_t(T)];
    if (complete) {
      windows.starts.push_back(start);
      windows.blocks.push_back(block_number);
    } else {
      ++windows.dropped;
    }
  }
  return windows;
}

std::array<std::shared_ptr<SeriesDataset>, kSplitCount> SeriesEncoder::encode_splits(
    const CsvTable& table, const Cut& cut, bool look_back, Notes* notes) const {
  const SeriesSteps steps =
      lay_out_steps(table, layout().time, layout_->series_column, layout_->interval);
  if (notes) notes->insert(notes->end(), steps.notes.begin(), steps.notes.end());
  const auto arrays = std::make_shared<SeriesArrays>();
  Values values;
  for (const std::string& name : layout_->series) {
    const std::vector<double> rows = read_series(table, name, layout_->format_of(name));
    std::vector<double>& own = values.emplace_back();
    for (const int64_t row : steps.rows) own.push_back(row < 0 ? NAN : rows[size_t(row)]);
  }
  add_scales(*arrays, steps.blocks, values);
  std::array<SeriesWindows, kSplitCount> windows;
  std::array<std::vector<SeriesBlock>, kSplitCount> ranges;
  for (const SeriesBlock& block : steps.blocks) {
    const TimeSplit split = cut(block.size());
    int64_t begin = block.begin;
    for (int i = 0; i < kSplitCount; ++i) {
      const SeriesBlock& range =
          ranges[size_t(i)].emplace_back(SeriesBlock{block.name, begin, begin + split[i]});
      begin = range.end;
      // Gaps are filled from the split's own steps: nothing is known of those behind it.
      for (std::vector<double>& own : values)
        windows[size_t(i)].filled_cells +=
            fill_gaps(std::span(own).subspan(size_t(range.begin), size_t(range.size())),
                      layout_->maximum_gap);
    }
  }
  std::vector<int64_t> inputs(size_t(layout_->inputs));
  std::iota(inputs.begin(), inputs.end(), 0);
  arrays->inputs = pack(values, inputs, steps.blocks, *arrays);
  arrays->targets = inputs == layout_->targets
                        ? arrays->inputs  // kept once
                        : pack(values, layout_->targets, steps.blocks, *arrays);
  arrays->known = pack_known(table, steps);
  arrays->times = steps.labels;
  std::array<std::shared_ptr<SeriesDataset>, kSplitCount> splits;
  for (size_t i = 0; i < kSplitCount; ++i) {
    for (size_t b = 0; b < steps.blocks.size(); ++b) {
      const SeriesWindows own =
          find_windows(*arrays, ranges[i][b], steps.blocks[b], int64_t(b), look_back && i > 0);
      SeriesWindows& all = windows[i];
      all.starts.insert(all.starts.end(), own.starts.begin(), own.starts.end());
      all.blocks.insert(all.blocks.end(), own.blocks.begin(), own.blocks.end());
      all.dropped += own.dropped;
      all.steps += own.steps;
    }
    if (windows[i].steps > 0)
      splits[i] = std::make_shared<SeriesDataset>(arrays, std::move(windows[i]), layout_);
  }
  return splits;
}

std::shared_ptr<SeriesDataset> SeriesEncoder::encode(const CsvTable& table, Notes* notes) const {
  return encode_splits(
      table,
      [](int64_t steps) {
        return TimeSplit{steps, 0, 0};
      },
      false, notes)[kTrain];
}

}  // namespace fovea
