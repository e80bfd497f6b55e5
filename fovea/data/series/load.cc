#include "fovea/data/series/load.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/load_tables.h"

namespace fovea {

namespace {

constexpr int64_t kMostWindowSteps = 65536;  // of a window, as the options have it

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
  std::string path;
  for (int split = 0; split < kSplitCount; ++split)
    if (tables[split]) {
      const CsvTable table = tables[split]->with_column(tables.split_column);
      path = table.path;
      blocks.emplace_back(line_number(table, 0), line_number(table, table.rows() - 1));
    }
  std::sort(blocks.begin(), blocks.end());
  for (size_t i = 1; i < blocks.size(); ++i)
    require(blocks[i - 1].second < blocks[i].first, ErrorKind::BadData, path, ":", blocks[i].first,
            ": the splits of column '", tables.split_column,
            "' alternate; each split of a series must be one block of rows");
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
  if (options.window == 0) options.window = root.integer_or("window", 0, 1, kMostWindowSteps);
  if (options.horizon == 0) options.horizon = root.integer_or("horizon", 0, 1, kMostWindowSteps);
}

LagTruth to_lag_truth(const Field& planted) {
  return {planted.at("lag").integer(1, INT32_MAX), planted.at("input").text(),
          planted.at("target").text()};
}

/// The windows of one split, with notes; null when it holds none.
std::shared_ptr<SeriesDataset> checked_windows(const std::shared_ptr<SeriesDataset>& data,
                                               const SeriesLayout& layout, const std::string& split,
                                               bool needed, Notes& notes) {
  if (!data) return nullptr;
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

/// What is said of the cut of one series, or of all of them.
std::string note_cut(const SeriesOptions& options, const SeriesSteps& steps, bool with_test) {
  TimeSplit sum;
  int64_t rest = 0;
  for (const SeriesBlock& block : steps.blocks) {
    const TimeSplit own = options.cut(block.size(), with_test);
    sum.train += own.train, sum.validation += own.validation, sum.test += own.test;
    rest += block.size() - own.train - own.validation - own.test;
  }
  const std::string border = options.look_back
                                 ? "windows may begin before the border that they forecast behind"
                                 : "no window crosses a border";
  if (!with_test && sum.validation > 0)
    return concat("validation: the last ", format_count(sum.validation), " of the ",
                  format_count(sum.train + sum.validation), " training steps; ", border);
  return concat(format_count(sum.train), " training, ", format_count(sum.validation),
                " validation and ", format_count(sum.test), " test steps, in time order; ", border,
                rest > 0 ? concat("; the last ", format_count(rest), " steps are left out") : "");
}

SourceTables open_series(const DataSource& source, const SeriesOptions& options,
                         bool needs_training) {
  SourceTables tables = open_source(source, {.task = "forecast",
                                             .fraction = 0,  // rows at random would tear the series
                                             .needs_training = needs_training,
                                             .split = options.split});
  const bool folder = std::filesystem::is_directory(source.path);
  if (!folder && !tables.split_column.empty()) check_blocks(tables);
  return tables;
}

SyntheticTables draw(const SeriesDataOptions& options) {
  return draw_series(options.generator, options.rows.validation_fraction,
                     options.rows.test_fraction);
}

/// What --columns says wins over what the options held.
SeriesOptions with_roles(SeriesOptions options, const DataSource& source) {
  apply_roles(source, {{"input", &options.input_columns},
                       {"target", &options.target_columns},
                       {"known", &options.known_columns},
                       {"static", &options.static_columns},
                       {"series", &options.series},
                       {"time", &options.time},
                       {"split", &options.split}});
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
  SourceTables tables =
      synthetic ? parse_tables(draw(options)) : open_series(source, rows, fitting);
  match_columns(tables, encoder);
  if (fitting) apply_description(tables.description, source.path / "dataset.json", rows);
  const bool given =
      synthetic || std::filesystem::is_directory(source.path) || !tables.split_column.empty();
  // Without a validation split the training steps are cut; a single file gives the test as well.
  const bool is_cut = !synthetic && tables.train && !tables.validation;
  const SeriesEncoder::Cut cut = [rows, given](int64_t steps) { return rows.cut(steps, !given); };
  if (fitting) {
    rows.split = tables.split_column;
    if (rows.standardise == "auto")
      rows.standardise = tables.description.is_object()
                             ? tables.description.value("standardise", std::string("yes"))
                             : std::string("yes");
    encoder.fit(*tables.train, rows, is_cut ? cut : SeriesEncoder::Cut{});
  }
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
    if (tables[split])
      note_unknown_columns(tables[split]->head(), encoder.file_columns(), splits.notes);
  if (is_cut)
    splits.notes.push_back(note_cut(
        rows, lay_out_steps(*tables.train, layout.time, layout.series_column, layout.interval),
        !given));
  const auto truth = read_truth(tables, source, to_lag_truth);
  const auto add = [&](int split, const std::shared_ptr<SeriesDataset>& windows) {
    const bool needed = split == kTrain && (fitting || synthetic);
    const auto data = checked_windows(windows, layout, kSplitNames[split], needed, splits.notes);
    if (data && truth && truth->holds_for(layout))
      data->set_truth(lagged_positions(truth->lag, layout.window, layout.horizon));
    splits[split] = data;
  };
  for (int split = 0; split < kSplitCount; ++split) {
    if (!tables[split]) continue;
    if (split == kTrain && is_cut) {
      const auto cut_splits =
          encoder.encode_splits(*tables.train, cut, rows.look_back, &splits.notes);
      for (int own = 0; own < kSplitCount; ++own)
        if (cut_splits[size_t(own)]) add(own, cut_splits[size_t(own)]);
    } else {
      add(split, encoder.encode(*tables[split], &splits.notes));
    }
  }
  require(splits.train || splits.validation || splits.test, ErrorKind::BadData,
          source.path.string(), ": ", splits.notes.empty() ? "no window" : splits.notes.back());
  return splits;
}

void write_series_data(const std::filesystem::path& folder, const SeriesDataOptions& options) {
  write_tables(folder, "forecast", draw(options));
}

}  // namespace fovea
