#include "fovea/data/series/encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/series/column.h"
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

/// Fills starts and dropped_windows: only windows in which every value is known.
void find_windows(SeriesArrays& arrays, const SeriesLayout& layout) {
  const std::vector<int64_t> no_input = incomplete_before(arrays.inputs);
  const std::vector<int64_t> no_target = incomplete_before(arrays.targets);
  const int64_t last = arrays.inputs.size(0) - layout.window - layout.horizon;
  for (int64_t start = 0; start <= last; start += layout.stride) {
    const auto begin = size_t(start), middle = begin + size_t(layout.window);
    const bool complete = no_input[begin] == no_input[middle] &&
                          no_target[middle] == no_target[middle + size_t(layout.horizon)];
    if (complete)
      arrays.starts.push_back(start);
    else
      ++arrays.dropped_windows;
  }
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
  list.add(
      "time", time,
      "column that names the steps; empty: one called time, date, datetime or timestamp; none: "
      "there is no such column");
  list.add("split", split,
           "column that says train, val or test; empty: one called split, if its cells say so");
  list.add("window", window, "steps that are looked at").at_least(1).at_most(kMaxSteps);
  list.add("horizon", horizon, "steps that are predicted").at_least(1).at_most(kMaxSteps);
  list.add("stride", stride, "steps from the start of one window to the next")
      .at_least(1)
      .at_most(kMaxStride);
  list.add("maximum_gap", maximum_gap,
           "missing steps in a row that are interpolated; windows with a longer gap are left out")
      .at_least(0);
  list.add("standardise", standardise,
           "mean 0 and deviation 1 for each series of the training split; auto: yes, unless "
           "dataset.json says no; no for the built-in data")
      .choices({"auto", "yes", "no"});
  describe_share(
      list, "validation_fraction", validation_fraction,
      "share of the steps, after the training steps, when the data has no validation split");
  describe_share(list, "test_fraction", test_fraction,
                 "share of the steps, the last ones, of data without splits");
}

std::vector<std::string> SeriesLayout::input_names() const {
  return {series.begin(), series.begin() + inputs};
}

std::vector<std::string> SeriesLayout::target_names() const {
  std::vector<std::string> names;
  for (const int64_t place : targets) names.push_back(series[size_t(place)]);
  return names;
}

SeriesDataset::SeriesDataset(SeriesArrays arrays, std::shared_ptr<const SeriesLayout> layout)
    : arrays_(std::move(arrays)), layout_(std::move(layout)) {}

int64_t SeriesDataset::start(int64_t row) const {
  require(row >= 0 && row < size(), ErrorKind::InvalidArgument, "row ", row, " is not in 0 … ",
          size() - 1);
  return arrays_.starts[size_t(row)];
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
  const std::vector<int64_t> begin{start(row)}, end{begin[0] + layout_->window};
  Example example;
  example.tensors["source"] = gather(arrays_.inputs, begin, layout_->window)[0];  // [S, F]
  if (arrays_.targets.defined())
    example.tensors["target"] = gather(arrays_.targets, end, layout_->horizon)[0];  // [T, O]
  std::span<const std::string> times = arrays_.times;
  if (!times.empty()) times = times.subspan(size_t(begin[0]), size_t(layout_->window));
  example.axes = make_axes(*layout_, times);
  if (truth_.defined()) example.truth["attention"] = truth_;
  return example;
}

Batch SeriesDataset::batch(std::span<const int64_t> rows) const {
  std::vector<int64_t> begins, ends;
  for (const int64_t row : rows) {
    begins.push_back(start(row));
    ends.push_back(begins.back() + layout_->window);
  }
  Batch batch;
  batch.size = int64_t(rows.size());
  batch.tensors["source"] = gather(arrays_.inputs, begins, layout_->window);  // [B, S, F]
  batch.tensors["source.keep"] =
      torch::ones({batch.size, layout_->window}, torch::kBool);  // [B, S]
  if (arrays_.targets.defined()) {
    batch.tensors["target"] = gather(arrays_.targets, ends, layout_->horizon);  // [B, T, O]
    batch.tensors["target.keep"] =
        torch::ones({batch.size, layout_->horizon}, torch::kBool);  // [B, T]
  }
  return batch;
}

Batch collate_series(std::span<const Example> examples) {
  Batch batch;
  batch.size = int64_t(examples.size());
  if (examples.empty()) return batch;
  const at::Tensor& first = examples[0].tensors.at("source");  // [S, F]
  const int64_t length = first.size(0), width = first.size(1);
  at::Tensor source = torch::empty({batch.size, length, width}, torch::kFloat32);  // [B, S, F]
  float* to = source.data_ptr<float>();
  for (const Example& example : examples) {
    const at::Tensor steps = example.tensors.at("source").contiguous();
    require(steps.sizes() == first.sizes(), ErrorKind::InvalidArgument, "an input has ",
            steps.size(0), " steps of ", steps.size(1), " series, another ", length, " of ", width);
    std::memcpy(to, steps.data_ptr<float>(), size_t(length * width) * sizeof(float));
    to += length * width;
  }
  batch.tensors["source"] = source;
  batch.tensors["source.keep"] = torch::ones({batch.size, length}, torch::kBool);  // [B, S]
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

/// The series at these places side by side, standardised.
at::Tensor SeriesEncoder::pack(const Values& series, std::span<const int64_t> places) const {
  const auto steps = int64_t(series[0].size()), width = int64_t(places.size());
  at::Tensor packed = torch::empty({steps, width}, torch::kFloat32);  // [N, K]
  for (int64_t column = 0; column < width; ++column) {
    const auto place = size_t(places[size_t(column)]);
    const double mean = layout_->means[place], deviation = layout_->deviations[place];
    float* value = packed.data_ptr<float>() + column;
    for (const double raw : series[place]) {
      *value = float((raw - mean) / deviation);
      value += width;
    }
  }
  return packed;
}

std::shared_ptr<SeriesDataset> SeriesEncoder::encode(const CsvTable& table) const {
  SeriesArrays arrays;
  Values series;
  for (const std::string& name : layout().series) {
    series.push_back(read_series(table, name));
    arrays.filled_cells += fill_gaps(series.back(), layout_->maximum_gap);
  }
  std::vector<int64_t> inputs(size_t(layout_->inputs));
  std::iota(inputs.begin(), inputs.end(), 0);
  arrays.inputs = pack(series, inputs);
  arrays.targets =
      inputs == layout_->targets ? arrays.inputs : pack(series, layout_->targets);  // kept once
  arrays.times = read_times(table, layout_->time).labels;
  find_windows(arrays, *layout_);
  return std::make_shared<SeriesDataset>(std::move(arrays), layout_);
}

}  // namespace fovea
