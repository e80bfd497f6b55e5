// Windows over numeric series for the task `forecast`: from the S = window last steps of F input
// series the T = horizon next steps of O target series are to be predicted,
//   source[s, f] = z_f(start + s),   target[h, o] = z_o(start + S + h),   z = (x - mean) /
//   deviation
// with mean and deviation of each series over the training split, and with what is known in advance
// of all S + T steps: the calendar, columns that were said to be known, what never changes of a
// series. A data set keeps the steps once; a window is a place in them. docs/formats/series.md
// states the rules.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/load.h"
#include "fovea/data/series/steps.h"

namespace fovea {

/// How the series are read; keys under data.
struct SeriesOptions {
  std::vector<std::string> input_columns;   // empty: all columns of numbers
  std::vector<std::string> target_columns;  // empty: all inputs
  std::vector<std::string> known_columns;   // known in advance
  std::vector<std::string> static_columns;  // the same in all rows of a series
  std::string series;  // column that says which series a row belongs to; empty: see choose_series()
  std::string time;   // empty: one called time, date, datetime or timestamp; "none": no such column
  std::string split;  // empty: a column called split whose cells are train, val, …, test
  int64_t window = 0;       // 0: by the number of steps
  int64_t horizon = 0;      // 0: a season
  int64_t season = 0;       // 0: by the calendar, or by what repeats
  int64_t stride = 1;       // from the start of one window to the next
  int64_t maximum_gap = 3;  // missing steps in a row that are interpolated
  std::string calendar = "auto";
  std::string standardise = "auto";
  bool look_back = true;  // windows of a later split begin in the one before
  double validation_fraction = 0.2;
  double test_fraction = 0.1;
  int64_t train_steps = 0, validation_steps = 0, test_steps = 0;  // instead of fractions
  void describe(OptionList& list);
  /// The splits of a series of so many steps, test and validation last. `with_test`: no other file
  /// is the test.
  TimeSplit cut(int64_t steps, bool with_test) const;
};

/// Mean and deviation of a series: x = deviation * z + mean.
struct SeriesScale {
  double mean = 0, deviation = 1;
};

/// A column that is known in advance: a number, standardised, or one of several words, one-hot.
struct KnownColumn {
  std::string name;
  bool is_static = false;           // the same in all rows of a series
  std::vector<std::string> levels;  // words; empty: a number
  SeriesScale scale = {};
  int64_t width() const { return levels.empty() ? 1 : int64_t(levels.size()); }
};

struct SeriesLayout {
  std::vector<std::string> series;        // the F inputs, then the targets that are no inputs
  int64_t inputs = 0;                     // F
  std::vector<int64_t> targets;           // [O] places in `series`
  std::vector<double> means, deviations;  // of each series; x = deviation * z + mean
  std::string time;                       // name of the time column, or ""
  std::string series_column;              // name of the column that says which series, or ""
  /// By the cell of that column: scales of its own for each of `series`.
  std::map<std::string, std::vector<SeriesScale>> scales = {};
  int64_t window = 0, horizon = 0, stride = 1, maximum_gap = 0;
  int64_t season = 1;
  StepInterval interval = {};
  std::vector<std::string> calendar = {};  // cycles (calendar.h)
  std::vector<KnownColumn> known = {};
  std::map<std::string, NumberFormat> formats = {};  // of series whose numbers are not plain ones

  std::vector<std::string> input_names() const;
  std::vector<std::string> target_names() const;
  std::vector<std::string> known_names() const;
  int64_t known_width() const;  // K
  /// Of series `name`; those of all series where it is not known.
  std::vector<SeriesScale> scales_of(const std::string& name) const;
  /// How the numbers of a series are written; null: plainly.
  const NumberFormat* format_of(const std::string& name) const;
};

/// Steps side by side, encoded once for all splits that are cut from them.
struct SeriesArrays {
  at::Tensor inputs;                    // [N, F] float32, NaN in a gap
  at::Tensor targets;                   // [N, O] float32; undefined for prediction
  at::Tensor known;                     // [N, K] float32; undefined without
  std::vector<std::string> times;       // [N], or empty
  std::vector<std::string> names;       // [G] of the blocks
  std::vector<at::Tensor> scales = {};  // [G] of [2, series]: mean and deviation
};

/// The windows of one split.
struct SeriesWindows {
  std::vector<int64_t> starts;         // first step of each window
  std::vector<int64_t> blocks;         // which series it is of
  int64_t steps = 0;                   // of the split
  int64_t dropped = 0;                 // windows that touch a gap
  int64_t filled_cells = 0;            // interpolated
  std::vector<int64_t> left_out = {};  // steps that were given before each window; empty: none
};

class SeriesDataset : public Dataset {
 public:
  SeriesDataset(std::shared_ptr<const SeriesArrays> arrays, SeriesWindows windows,
                std::shared_ptr<const SeriesLayout> layout);
  int64_t size() const override { return int64_t(windows_.starts.size()); }
  /// "source" [S, F] and, where it is known, "target" [T, O]; "known" [S + T, K] where there is
  /// any; "scale" [2, series]; axes "source" (the time cells, or t-23 … t-0), "target" (t+1 …) and,
  /// where rows name it, "series"; truth "attention" [T, S] when planted.
  Example example(int64_t row) const override;
  /// "source" [B, S, F] float32, "source.keep" [B, S] bool, and likewise "target" [B, T, O];
  /// "known" [B, S + T, K], "scale" [B, 2, series], and "series" [B], a number, where rows name it.
  Batch batch(std::span<const int64_t> rows) const override;

  int64_t length(int64_t) const override { return std::max(layout_->window, layout_->horizon); }
  bool has_truth() const override { return truth_.defined(); }

  /// For each of the T outputs the position in the window that it comes from; -1 where none does.
  void set_truth(std::span<const int64_t> positions);

  int64_t steps() const { return windows_.steps; }
  int64_t dropped_windows() const { return windows_.dropped; }
  int64_t filled_cells() const { return windows_.filled_cells; }

 private:
  int64_t start(int64_t row) const;
  std::shared_ptr<const SeriesArrays> arrays_;
  SeriesWindows windows_;
  std::shared_ptr<const SeriesLayout> layout_;
  at::Tensor truth_;  // [T, S] bool, or undefined
};

class SeriesEncoder {
 public:
  /// The steps of one series before a forecast.
  struct PastSteps {
    std::string name;                             // of the series, or ""
    std::vector<std::vector<double>> inputs;      // per input [n]
    std::vector<std::string> times;               // [n], or empty
    std::vector<std::vector<std::string>> known;  // cells of each known column [n + T]
    std::function<std::string(int64_t step)> place;
  };

  /// How many of the steps of a series each split has.
  using Cut = std::function<TimeSplit(int64_t steps)>;

  /// Learns columns, means and deviations from the training split, which is the first part of each
  /// series, or without `cut` all of it. standardise "auto" means yes.
  void fit(const CsvTable& table, const SeriesOptions& options, const Cut& cut = {});
  bool fitted() const { return layout_ != nullptr; }

  Json to_json() const;
  static SeriesEncoder from_json(const Json& json, const std::string& where = "series encoding");

  const SeriesLayout& layout() const;
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& file_columns() const { return file_columns_; }

  /// All windows of one split; none when it is too short. NotFound for a missing column; BadData
  /// with path:line for text where a number is due and for times out of order.
  std::shared_ptr<SeriesDataset> encode(const CsvTable& table, Notes* notes = nullptr) const;
  /// The windows of each split of one table, over the same steps. With `look_back` the windows of a
  /// later split may begin in an earlier one; what they predict never lies there.
  std::array<std::shared_ptr<SeriesDataset>, kSplitCount> encode_splits(const CsvTable& table,
                                                                        const Cut& cut,
                                                                        bool look_back,
                                                                        Notes* notes) const;
  /// The window at the end of each series of the table, and no target: for prediction. Rows in
  /// which every input is missing, at the end, are those to predict: they say what is known of
  /// them.
  std::shared_ptr<SeriesDataset> encode_inputs(const CsvTable& table) const;

  /// The steps before the forecast, typed: {"column": [value, …], …}, [[value of each input], …] by
  /// steps, or with one input series [value, …] or value,value,…. Of more than S steps the last S
  /// are used. BadData for fewer. Columns that are known go on for T steps more; what is the same
  /// everywhere may be one value.
  Example encode_row(const std::string& text) const;
  /// The number that an encoded value of layout().series[series] stands for.
  double original(double value, int64_t series) const;

 private:
  using Values = std::vector<std::vector<double>>;  // per series [N]
  /// [N, K] of these places of `values`, with the scales of each block; NaN where a value is.
  at::Tensor pack(const Values& values, std::span<const int64_t> places,
                  std::span<const SeriesBlock> blocks, const SeriesArrays& arrays) const;
  at::Tensor pack_known(const CsvTable& table, const SeriesSteps& steps) const;
  void add_scales(SeriesArrays& arrays, std::span<const SeriesBlock> blocks,
                  const Values& values) const;
  SeriesWindows find_windows(const SeriesArrays& arrays, const SeriesBlock& split,
                             const SeriesBlock& block, int64_t block_number, bool look_back) const;
  void check_known(const PastSteps& past, const std::string& name) const;
  at::Tensor known_of(const PastSteps& past, const std::string& name) const;
  std::shared_ptr<SeriesDataset> last_windows(std::vector<PastSteps> all,
                                              const std::string& name) const;
  std::shared_ptr<const SeriesLayout> layout_;
  std::vector<std::string> file_columns_, notes_;
};

/// The tensors of examples side by side, as SeriesDataset::batch makes them; for inputs typed by a
/// user. All examples have the same number of steps and series.
Batch collate_series(std::span<const Example> examples);

}  // namespace fovea
