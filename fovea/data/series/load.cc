#include "fovea/data/series/load.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/input_table.h"
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

/// Encodes parts one by one, with truth and notes.
class PartEncoder {
 public:
  PartEncoder(const SeriesEncoder& encoder, std::optional<LagTruth> truth, Splits& splits)
      : encoder_(encoder), splits_(splits) {
    const SeriesLayout& layout = encoder.layout();
    if (truth && truth->holds_for(layout))
      positions_ = lagged_positions(truth->lag, layout.window, layout.horizon);
  }

  /// Null when the part holds no window.
  template <class Rows>
  std::shared_ptr<Dataset> encode(const Rows& rows, const char* part, bool needed) {
    auto data = encoder_.encode(rows);
    if (data->filled_cells() > 0)
      note("missing cells of the ", part,
           " part that were interpolated: ", format_count(data->filled_cells()));
    if (data->dropped_windows() > 0)
      note(part, " windows that were left out: ", format_count(data->dropped_windows()),
           "; they touch a gap that is longer than ", encoder_.layout().maximum_gap,
           " steps or has no known value on one side");
    if (data->size() == 0) {
      const std::string why = reason(*data, part);
      require(!needed, ErrorKind::BadData, why, "; give more data, or set data.window or ",
              "data.horizon lower");
      note(why, ": it is left out");
      return nullptr;
    }
    if (!positions_.empty()) data->set_truth(positions_);
    return data;
  }

 private:
  template <class... Pieces>
  void note(const Pieces&... pieces) {
    splits_.notes.push_back(concat(pieces...));
  }
  std::string reason(const SeriesDataset& data, const char* part) const {
    const SeriesLayout& layout = encoder_.layout();
    if (data.dropped_windows() > 0)
      return concat("every window of the ", part, " part touches a gap");
    return concat("the ", part, " part has ", format_count(data.steps()), " steps, a window of ",
                  layout.window, " and a horizon of ", layout.horizon, " need ",
                  format_count(layout.window + layout.horizon));
  }

  const SeriesEncoder& encoder_;
  Splits& splits_;
  std::vector<int64_t> positions_;
};

CsvTable rows_of(const CsvTable& table, int64_t begin, int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), begin);
  return table.select(rows);
}

SeriesNumbers rows_of(const SeriesNumbers& series, int64_t begin, int64_t count) {
  SeriesNumbers part{series.name, series.columns, {}};
  for (const std::vector<double>& values : series.values)
    part.values.emplace_back(values.begin() + begin, values.begin() + begin + count);
  return part;
}

/// The built-in data and its parts.
struct BuiltIn {
  LagDraw draw;
  SeriesNumbers train, validation, test;
  LagTruth truth;
};

BuiltIn draw_built_in(const SeriesDataOptions& options) {
  BuiltIn data;
  data.draw = draw_lag(options.generator);
  const TimeCut cut = cut_in_time(options.generator.rows, options.rows.validation_fraction,
                                  options.rows.test_fraction);
  data.train = rows_of(data.draw.series, 0, cut.train);
  data.validation = rows_of(data.draw.series, cut.train, cut.validation);
  data.test = rows_of(data.draw.series, cut.train + cut.validation, cut.test);
  data.truth = {options.generator.lag, data.draw.source, data.draw.target};
  return data;
}

int64_t steps_of(const SeriesNumbers& series) {
  return int64_t(series.values[0].size());
}

std::string parts_note(const TimeCut& cut) {
  return concat(format_count(cut.train), " training, ", format_count(cut.validation),
                " validation and ", format_count(cut.test),
                " test steps, in time order; no window crosses a border");
}

Splits load_built_in(const SeriesDataOptions& options, SeriesEncoder& encoder) {
  const BuiltIn data = draw_built_in(options);
  const bool fitting = !encoder.fitted();
  if (fitting) {
    SeriesOptions rows = options.rows;
    if (rows.standardise == "auto") rows.standardise = "no";  // drawn with mean 0 and deviation 1
    if (rows.input_columns.empty()) rows.input_columns = data.draw.inputs;
    if (rows.target_columns.empty()) rows.target_columns = {data.draw.target};
    encoder.fit(data.train, rows);
  }
  const SeriesLayout& layout = encoder.layout();
  const int64_t lag = options.generator.lag;
  require(layout.horizon < lag && lag <= layout.window, ErrorKind::InvalidArgument,
          "the built-in data copies the input of ", lag, " steps ago, which a window of ",
          layout.window, " and a horizon of ", layout.horizon,
          " do not show for every output; choose horizon < lag <= window");
  Splits splits;
  ContentHash hash;
  const TimeCut cut{steps_of(data.train), steps_of(data.validation), steps_of(data.test)};
  hash.add(concat("forecast ", options_json(options.generator).dump(), " ", cut.validation, " ",
                  cut.test));
  splits.hash = hash.text();
  splits.notes = encoder.notes();
  splits.notes.push_back(
      concat("built-in synthetic data, seed ", options.generator.seed, ": ", parts_note(cut)));
  PartEncoder parts(encoder, data.truth, splits);
  splits.train = parts.encode(data.train, "training", true);
  if (cut.validation > 0) splits.validation = parts.encode(data.validation, "validation", false);
  if (cut.test > 0) splits.test = parts.encode(data.test, "test", false);
  return splits;
}

/// The line of the file on which a row begins.
int64_t line_of(const CsvTable& table, int64_t row) {
  const std::string place = table.place(row);
  int64_t line = 0;
  parse_integer(std::string_view(place).substr(place.rfind(':') + 1), line);
  return line;
}

/// Rows that a split column takes out of the middle of a part would leave a jump in time behind.
void check_blocks(const SourceTables& tables) {
  std::vector<std::pair<int64_t, int64_t>> blocks;  // first and last line
  const CsvTable* any = nullptr;
  for (const auto* part : {&tables.train, &tables.validation, &tables.test})
    if (*part) {
      any = &**part;
      blocks.emplace_back(line_of(*any, 0), line_of(*any, any->rows() - 1));
    }
  std::sort(blocks.begin(), blocks.end());
  for (size_t i = 1; i < blocks.size(); ++i)
    require(blocks[i - 1].second < blocks[i].first, ErrorKind::BadData, any->path, ":",
            blocks[i].first, ": the parts of split column '", tables.split_column,
            "' alternate; each part of a series must be one block of rows");
}

/// Gives a source without validation part one, and a single file without parts a test part too.
void cut_tables(SourceTables& tables, const SeriesOptions& options, bool has_parts) {
  if (!tables.train || tables.validation) return;
  const CsvTable all = *std::move(tables.train);
  const TimeCut cut =
      cut_in_time(all.rows(), options.validation_fraction, has_parts ? 0 : options.test_fraction);
  tables.train = rows_of(all, 0, cut.train);
  if (cut.validation > 0) tables.validation = rows_of(all, cut.train, cut.validation);
  if (cut.test > 0) tables.test = rows_of(all, cut.train + cut.validation, cut.test);
  if (!has_parts)
    tables.notes.push_back(parts_note(cut));
  else if (cut.validation > 0)
    tables.notes.push_back(concat("validation: the last ", format_count(cut.validation), " of the ",
                                  format_count(all.rows()),
                                  " training steps; no window crosses the border"));
}

/// What dataset.json says about the columns, where the user said nothing.
void apply_description(const Json& description, const std::string& where, SeriesOptions& options) {
  if (!description.is_object()) return;
  const Field root = Field::root(description, where);
  const auto fill = [&](const char* key, std::vector<std::string>& columns) {
    if (const auto given = root.find(key); given && columns.empty()) columns = given->texts();
  };
  fill("input_columns", options.input_columns);
  fill("target_columns", options.target_columns);
}

std::optional<LagTruth> read_truth(const Json& description, const std::string& where) {
  if (!description.is_object()) return {};
  const auto truth = Field::root(description, where).find("truth");
  if (!truth) return {};
  return LagTruth{truth->at("lag").integer(1, INT32_MAX), truth->at("input").text(),
                  truth->at("target").text()};
}

void write_csv(const std::filesystem::path& path, const SeriesNumbers& series) {
  std::string text = join(series.columns, ",") + "\n";
  for (int64_t step = 0; step < steps_of(series); ++step)
    for (size_t i = 0; i < series.values.size(); ++i)
      text += format_exact(series.values[i][size_t(step)]) +
              (i + 1 < series.values.size() ? "," : "\n");
  write_file(path, text);
}

}  // namespace

void SeriesDataOptions::describe(OptionList& list) {
  generator.describe(list);
  rows.describe(list);
}

TimeCut cut_in_time(int64_t steps, double validation_fraction, double test_fraction) {
  TimeCut cut;
  cut.validation = std::llround(double(steps) * validation_fraction);
  cut.test = std::llround(double(steps) * test_fraction);
  cut.train = steps - cut.validation - cut.test;
  require(validation_fraction >= 0 && test_fraction >= 0 && cut.train > 0,
          ErrorKind::InvalidArgument, "validation_fraction ", validation_fraction,
          " and test_fraction ", test_fraction, " leave no training step of ", format_count(steps),
          "; together they must be less than 1");
  return cut;
}

void apply_roles(const DataSource& source, SeriesOptions& options) {
  check_roles(source, {"input", "target", "time", "split"});
  const Roles& roles = source.roles;
  if (roles.contains("input")) options.input_columns = roles.at("input");
  if (roles.contains("target")) options.target_columns = roles.at("target");
  options.time = single_role(roles, "time", options.time);
  options.split = single_role(roles, "split", options.split);
}

Splits load_series(const DataSource& source, const SeriesDataOptions& options,
                   SeriesEncoder& encoder, uint64_t /*seed*/) {
  SeriesOptions rows = options.rows;
  apply_roles(source, rows);
  if (source.path.empty()) return load_built_in(options, encoder);
  const bool fitting = !encoder.fitted();
  SplitOptions cut;
  cut.task = "forecast";
  cut.split = rows.split;
  cut.fraction = 0;  // rows chosen at random would tear the series
  cut.needs_training = fitting;
  SourceTables tables = open_source(source, cut);
  const bool folder = std::filesystem::is_directory(source.path);
  if (!folder && !tables.split_column.empty()) check_blocks(tables);
  cut_tables(tables, rows, folder || !tables.split_column.empty());
  const std::string where = (source.path / "dataset.json").string();
  if (fitting) {
    rows.split = tables.split_column;
    rows.standardise = resolve_standardise(rows.standardise, tables.description, "yes");
    apply_description(tables.description, where, rows);
    encoder.fit(*tables.train, rows);
  }
  Splits splits;
  splits.hash = tables.hash;
  splits.notes = encoder.notes();
  splits.notes.insert(splits.notes.end(), tables.notes.begin(), tables.notes.end());
  for (const auto* table : {&tables.train, &tables.validation, &tables.test})
    if (*table) note_unknown_columns(**table, encoder.file_columns(), splits.notes);
  PartEncoder parts(encoder, read_truth(tables.description, where), splits);
  if (tables.train) splits.train = parts.encode(*tables.train, "training", fitting);
  if (tables.validation) splits.validation = parts.encode(*tables.validation, "validation", false);
  if (tables.test) splits.test = parts.encode(*tables.test, "test", false);
  require(splits.train || splits.validation || splits.test, ErrorKind::BadData,
          source.path.string(), ": ", splits.notes.empty() ? "no window" : splits.notes.back());
  return splits;
}

void write_series_data(const std::filesystem::path& folder, const SeriesDataOptions& options) {
  const BuiltIn data = draw_built_in(options);
  make_folder(folder);
  write_csv(folder / "train.csv", data.train);
  if (steps_of(data.validation) > 0) write_csv(folder / "val.csv", data.validation);
  if (steps_of(data.test) > 0) write_csv(folder / "test.csv", data.test);
  const Json truth{
      {"lag", data.truth.lag}, {"input", data.truth.input}, {"target", data.truth.target}};
  const std::vector<std::string> targets{data.draw.target};
  write_description(folder, "forecast", options_json(options.generator),
                    {{"input_columns", data.draw.inputs},
                     {"target_columns", targets},
                     {"truth", truth},
                     {"standardise", "no"}});
}

}  // namespace fovea
