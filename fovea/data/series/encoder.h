// Windows over numeric series for the task `forecast`: from the S = window last steps of F input
// series the T = horizon next steps of O target series are to be predicted,
//   source[s, f] = z_f(start + s),   target[h, o] = z_o(start + S + h),   z = (x - mean) /
//   deviation
// with mean and deviation of each series over the training split. A data set keeps the series once;
// a window is a place in them. docs/formats/series.md states the rules.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/data/formats/csv.h"

namespace fovea {

/// How the series are read; keys under data.
struct SeriesOptions {
  std::vector<std::string> input_columns;   // empty: all columns of numbers
  std::vector<std::string> target_columns;  // empty: all inputs
  std::string time;   // empty: one called time, date, datetime or timestamp; "none": no such column
  std::string split;  // empty: a column called split whose cells are train, val, …, test
  int64_t window = 24;
  int64_t horizon = 6;
  int64_t stride = 1;       // from the start of one window to the next
  int64_t maximum_gap = 3;  // missing steps in a row that are interpolated
  std::string standardise = "auto";
  double validation_fraction = 0.2;
  double test_fraction = 0.1;
  void describe(OptionList& list);
};

struct SeriesLayout {
  std::vector<std::string> series;        // the F inputs, then the targets that are no inputs
  int64_t inputs = 0;                     // F
  std::vector<int64_t> targets;           // [O] places in `series`
  std::vector<double> means, deviations;  // of each series; x = deviation * z + mean
  std::string time;                       // name of the time column, or ""
  int64_t window = 0, horizon = 0, stride = 1, maximum_gap = 0;

  std::vector<std::string> input_names() const;
  std::vector<std::string> target_names() const;
};

/// Columns of numbers, as they are read from a table.
struct SeriesNumbers {
  std::string name;  // for errors
  std::vector<std::string> columns;
  std::vector<std::vector<double>> values;  // per column [N], NaN where missing
};

/// The steps of one split, encoded.
struct SeriesArrays {
  at::Tensor inputs;               // [N, F] float32, NaN in a gap
  at::Tensor targets;              // [N, O] float32; undefined for prediction
  std::vector<std::string> times;  // [N], or empty
  std::vector<int64_t> starts;     // first step of each window
  int64_t dropped_windows = 0;     // those that touch a gap
  int64_t filled_cells = 0;        // interpolated
};

class SeriesDataset : public Dataset {
 public:
  SeriesDataset(SeriesArrays arrays, std::shared_ptr<const SeriesLayout> layout);
  int64_t size() const override { return int64_t(arrays_.starts.size()); }
  /// "source" [S, F] and, where it is known, "target" [T, O]; axes "source" (the time cells, or
  /// t-23 … t-0) and "target" (t+1 …); truth "attention" [T, S] when planted.
  Example example(int64_t row) const override;
  /// "source" [B, S, F] float32, "source.keep" [B, S] bool, and likewise "target" [B, T, O].
  Batch batch(std::span<const int64_t> rows) const override;

  int64_t length(int64_t) const override { return std::max(layout_->window, layout_->horizon); }
  bool has_truth() const override { return truth_.defined(); }

  /// For each of the T outputs the position in the window that it comes from; -1 where none does.
  void set_truth(std::span<const int64_t> positions);

  int64_t steps() const { return arrays_.inputs.size(0); }
  int64_t dropped_windows() const { return arrays_.dropped_windows; }
  int64_t filled_cells() const { return arrays_.filled_cells; }

 private:
  int64_t start(int64_t row) const;
  SeriesArrays arrays_;
  std::shared_ptr<const SeriesLayout> layout_;
  at::Tensor truth_;  // [T, S] bool, or undefined
};

class SeriesEncoder {
 public:
  /// Learns columns, means and deviations from the training split. standardise "auto" means yes.
  void fit(const CsvTable& train, const SeriesOptions& options);
  bool fitted() const { return layout_ != nullptr; }

  Json to_json() const;
  static SeriesEncoder from_json(const Json& json, const std::string& where = "series encoding");

  const SeriesLayout& layout() const;
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& file_columns() const { return file_columns_; }

  /// All windows of one split; none when it is too short. NotFound for a missing column; BadData
  /// with path:line for text where a number is due and for times out of order.
  std::shared_ptr<SeriesDataset> encode(const CsvTable& table) const;
  /// The one window at the end of the table, and no target: for prediction.
  std::shared_ptr<SeriesDataset> encode_inputs(const CsvTable& table) const;

  /// The steps before the forecast, typed: {"column": [value, …], …}, [[value of each input], …] by
  /// steps, or with one input series [value, …] or value,value,…. Of more than S steps the last S
  /// are used. BadData for fewer.
  Example encode_row(const std::string& text) const;

  /// The number that an encoded value of layout().series[series] stands for.
  double original(double value, int64_t series) const;

 private:
  using Values = std::vector<std::vector<double>>;  // per series [N]
  void learn(const SeriesNumbers& train, const SeriesOptions& options);
  at::Tensor pack(const Values& series, std::span<const int64_t> places) const;
  std::shared_ptr<SeriesDataset> last_window(
      Values inputs, std::vector<std::string> times, const std::string& name,
      const std::function<std::string(int64_t step)>& place) const;
  std::shared_ptr<const SeriesLayout> layout_;
  std::vector<std::string> file_columns_, notes_;
};

/// "source" and "source.keep" side by side, as SeriesDataset::batch makes them; for inputs typed by
/// a user. All examples have the same number of steps and series.
Batch collate_series(std::span<const Example> examples);

}  // namespace fovea
