#include "fovea/data/series/load.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/load_tables.h"

namespace fovea {

namespace {

/// dataset.json: "truth": {"lag": 12, "input": "x", "target": "y"}.
struct LagTruth {
  int64_t lag = 0;
  std::string input, target;

  /// Known only where the forecast is of that target alone and sees that input.
  bool holds_for(const SeriesLayout& layout) const {
    const std::vector<std::string> inputs = layout.input_names();
    return layout.target_names() == std::vector<std::string>{target} &&
           std::find(inputs.begin(), inputs.end(), input) != inputs.end();
  }
};

CsvTable select_rows(const CsvTable& table, int64_t begin, int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), begin);
  return table.select(rows);
}

/// The line of the file on which a row begins.
int64_t line_number(const CsvTable& table, int64_t row) {
  const std::string place = table.place(row);
  int64_t line = 0;
  parse_integer(std::string_view(place).substr(place.rfind(':') + 1), line);
  return line;
}

/// Rows that a split column takes out of the middle of a split would leave a jump in time behind.
void check_blocks(const SourceTables& tables) {
  std::vector<std::pair<int64_t, int64_t>> blocks;  // first and last line
  const CsvTable* any = nullptr;
  for (int split = 0; split < kSplitCount; ++split)
    if (tables[split]) {
      any = &*tables[split];
      blocks.emplace_back(line_number(*any, 0), line_number(*any, any->rows() - 1));
    }
  std::sort(blocks.begin(), blocks.end());
  for (size_t i = 1; i < blocks.size(); ++i)
    require(blocks[i - 1].second < blocks[i].first, ErrorKind::BadData, any->path, ":",
            blocks[i].first, ": the splits of column '", tables.split_column,
            "' alternate; each split of a series must be one block of rows");
}

/// Gives a source without validation split one, and a single file without splits a test split too.
void hold_out_last(SourceTables& tables, const SeriesOptions& options, bool has_splits) {
  if (!tables.train || tables.validation) return;
  const CsvTable all = *std::move(tables.train);
  const TimeSplit steps = split_in_time(all.rows(), options.validation_fraction,
                                        has_splits ? 0 : options.test_fraction);
  int64_t begin = 0;
  for (int split = 0; split < kSplitCount; begin += steps[split++])
    if (steps[split] > 0) tables[split] = select_rows(all, begin, steps[split]);
  if (!has_splits)
    tables.notes.push_back(note_steps(steps));
  else if (steps.validation > 0)
    tables.notes.push_back(concat("validation: the last ", format_count(steps.validation),
                                  " of the ", format_count(all.rows()),
                                  " training steps; no window crosses the border"));
}

/// What dataset.json says about the columns, where the user said nothing.
void apply_description(const Json& description, const std::filesystem::path& path,
                       SeriesOptions& options) {
  if (!description.is_object()) return;
  const Field root = Field::root(description, path.string());
  const auto fill = [&](const char* key, std::vector<std::string>& columns) {
    if (const auto given = root.find(key); given && columns.empty()) columns = given->texts();
  };
  fill("input_columns", options.input_columns);
  fill("target_columns", options.target_columns);
}

LagTruth to_lag_truth(const Field& planted) {
  return {planted.at("lag").integer(1, INT32_MAX), planted.at("input").text(),
          planted.at("target").text()};
}

/// The windows of one split, with notes; null when it holds none.
std::shared_ptr<SeriesDataset> encode_windows(const SeriesEncoder& encoder, const CsvTable& table,
                                              const std::string& split, bool needed, Notes& notes) {
  const SeriesLayout& layout = encoder.layout();
  auto data = encoder.encode(table);
  if (data->filled_cells() > 0)
    notes.push_back(concat("missing cells of the ", split,
                           " split that were interpolated: ", format_count(data->filled_cells())));
  if (data->dropped_windows() > 0)
    notes.push_back(concat(split,
                           " windows that were left out: ", format_count(data->dropped_windows()),
                           "; they touch a gap that is longer than ", layout.maximum_gap,
                           " steps or has no known value on one side"));
  if (data->size() > 0) return data;
  const std::string why =
      data->dropped_windows() > 0
          ? concat("every window of the ", split, " split touches a gap")
          : concat("the ", split, " split has ", format_count(data->steps()),
                   " steps, a window of ", layout.window, " and a horizon of ", layout.horizon,
                   " need ", format_count(layout.window + layout.horizon));
  require(!needed, ErrorKind::BadData, why,
          "; give more data, or set data.window or data.horizon lower");
  notes.push_back(why + ": it is left out");
  return nullptr;
}

SourceTables open_series(const DataSource& source, const SeriesOptions& options,
                         bool needs_training) {
  SourceTables tables = open_source(source, {.task = "forecast",
                                             .fraction = 0,  // rows at random would tear the series
                                             .needs_training = needs_training,
                                             .split = options.split});
  const bool folder = std::filesystem::is_directory(source.path);
  if (!folder && !tables.split_column.empty()) check_blocks(tables);
  hold_out_last(tables, options, folder || !tables.split_column.empty());
  return tables;
}

SyntheticTables draw(const SeriesDataOptions& options) {
  return draw_series(options.generator, options.rows.validation_fraction,
                     options.rows.test_fraction);
}

/// What --columns says wins over what the options held.
SeriesOptions with_roles(SeriesOptions options, const DataSource& source) {
  check_roles(source, {"input", "target", "time", "split"});
  const Roles& roles = source.roles;
  if (roles.contains("input")) options.input_columns = roles.at("input");
  if (roles.contains("target")) options.target_columns = roles.at("target");
  options.time = single_role(roles, "time", options.time);
  options.split = single_role(roles, "split", options.split);
  return options;
}

}  // namespace

void SeriesDataOptions::describe(OptionList& list) {
  generator.describe(list);
  rows.describe(list);
}

Splits load_series(const DataSource& source, const SeriesDataOptions& options,
                   SeriesEncoder& encoder, uint64_t /*seed*/) {
  SeriesOptions rows = with_roles(options.rows, source);
  const bool fitting = !encoder.fitted(), synthetic = source.path.empty();
  const SourceTables tables =
      synthetic ? parse_tables(draw(options)) : open_series(source, rows, fitting);
  if (fitting) apply_description(tables.description, source.path / "dataset.json", rows);
  fit_once(tables, rows, "yes", encoder);
  const SeriesLayout& layout = encoder.layout();
  const int64_t lag = options.generator.lag;
  require(!synthetic || (layout.horizon < lag && lag <= layout.window), ErrorKind::InvalidArgument,
          "the built-in data copies the input of ", lag, " steps ago, which a window of ",
          layout.window, " and a horizon of ", layout.horizon,
          " do not show for every output; choose horizon < lag <= window");
  Splits splits;
  splits.hash = tables.hash;
  splits.notes = encoder.notes();
  splits.notes.insert(splits.notes.end(), tables.notes.begin(), tables.notes.end());
  for (int split = 0; split < kSplitCount; ++split)
    if (tables[split]) note_unknown_columns(*tables[split], encoder.file_columns(), splits.notes);
  const auto truth = read_truth(tables, source, to_lag_truth);
  for (int split = 0; split < kSplitCount; ++split) {
    if (!tables[split]) continue;
    const bool needed = split == kTrain && (fitting || synthetic);
    const auto data =
        encode_windows(encoder, *tables[split], kSplitNames[split], needed, splits.notes);
    if (data && truth && truth->holds_for(layout))
      data->set_truth(lagged_positions(truth->lag, layout.window, layout.horizon));
    splits[split] = data;
  }
  require(splits.train || splits.validation || splits.test, ErrorKind::BadData,
          source.path.string(), ": ", splits.notes.empty() ? "no window" : splits.notes.back());
  return splits;
}

void write_series_data(const std::filesystem::path& folder, const SeriesDataOptions& options) {
  write_tables(folder, "forecast", draw(options));
}

}  // namespace fovea
