#include "fovea/data/tables/load.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/formats/table.h"
#include "fovea/data/load_tables.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr double kBuiltInFraction = 0.3;

std::string format_csv(const NumberTable& table, int64_t begin, int64_t end) {
  if (begin == end) return "";
  std::string text = join(table.names, ",") + "," + table.target + "\n";
  const int64_t width = table.inputs.size(1);
  for (int64_t row = begin; row < end; ++row) {
    const float* values = table.inputs.data_ptr<float>() + row * width;
    for (int64_t column = 0; column < width; ++column) text += format_exact(values[column]) + ",";
    text += table.classes[size_t(table.labels.data_ptr<int64_t>()[row])] + "\n";
  }
  return text;
}

/// A run of other data cannot be measured on what is drawn.
void check_run(const TableLayout& run, const NumberTable& drawn) {
  for (size_t input = 0; input < run.input_names.size(); ++input) {
    const std::string& name = run.columns[size_t(run.column_of_input[input])];
    const InputRole role = run.input_roles[input];
    require(std::find(drawn.names.begin(), drawn.names.end(), name) != drawn.names.end() &&
                role != InputRole::Category && role != InputRole::Word,
            ErrorKind::NotFound, "the built-in data has no column of numbers called '", name,
            "'; was the run trained on other data?");
  }
  require(run.kind == TargetKind::TwoClasses && run.target == drawn.target &&
              run.classes == drawn.classes,
          ErrorKind::InvalidArgument, "the built-in data has the target '", drawn.target,
          "' with the classes ", join(drawn.classes), ", the run has '", run.target,
          "'; name the data it was trained on");
}

/// The built-in data, for a run where there is one already; validation is its tail.
SyntheticTables draw_built_in(const FeaturesDataOptions& options, const TableLayout* run) {
  const TableOptions& table = options.table;
  const FeaturesDraw draw = draw_features(options.generator);
  require(table.target.empty() || table.target == draw.table.target, ErrorKind::NotFound,
          "the built-in data has the target 'y', not '", table.target, "'");
  require(table.target_kind == "auto" || table.target_kind == "two-classes",
          ErrorKind::InvalidArgument,
          "the built-in data has two classes; target_kind=", table.target_kind, " does not fit");
  if (run) check_run(*run, draw.table);
  const double fraction =
      table.validation_fraction < 0 ? kBuiltInFraction : table.validation_fraction;
  const int64_t rows = options.generator.rows;
  const int64_t held_out =
      fraction == 0 ? 0 : std::clamp<int64_t>(std::llround(fraction * double(rows)), 1, rows - 1);
  SyntheticTables drawn;
  drawn.files[kTrain] = format_csv(draw.table, 0, rows - held_out);
  drawn.files[kValidation] = format_csv(draw.table, rows - held_out, rows);
  drawn.generator = options_json(options.generator);
  drawn.description = {{"truth", {{"columns", draw.informative}}}, {"standardise", "no"}};
  ContentHash hash;
  hash.add(concat("features ", drawn.generator.dump(), " ", held_out));
  drawn.hash = hash.text();
  drawn.notes = {concat("built-in synthetic data: label '", options.generator.label, "' of ",
                        join(draw.informative), ", law '", options.generator.law, "', seed ",
                        options.generator.seed, "; the last ", format_count(held_out), " of ",
                        format_count(rows), " rows are for validation")};
  return drawn;
}

/// What --columns says wins over what the options held.
TableOptions with_table_roles(TableOptions options, const DataSource& source) {
  apply_roles(source, {{"target", &options.target},
                       {"split", &options.split},
                       {"drop", &options.drop},
                       {"feature", &options.features}});
  return options;
}

}  // namespace

void FeaturesDataOptions::describe(OptionList& list) {
  generator.describe(list);
  table.describe(list);
}

Splits load_features(const DataSource& source, const FeaturesDataOptions& options,
                     TableEncoder& encoder, uint64_t seed, bool* held_out) {
  const TableOptions table = with_table_roles(options.table, source);
  if (held_out) *held_out = false;
  const bool drawn = source.path.empty();
  const std::string target = encoder.fitted() ? encoder.layout().target : table.target;
  const SplitOptions split_options{
      "features", table.validation_fraction, seed, !encoder.fitted(), table.split, target};
  const bool restored = encoder.fitted();
  SourceTables tables =
      drawn ? parse_tables(draw_built_in(options, restored ? &encoder.layout() : nullptr))
            : open_source(source, split_options);
  if (!drawn && held_out && tables.validation && tables.split_column.empty())
    *held_out = !std::filesystem::is_directory(source.path) ||
                !find_split_files(source.path, table_endings())[kValidation];
  match_columns(tables, encoder);
  fit_once(tables, table, "yes", encoder);
  int64_t rows = 0;
  for (int part = 0; part < kSplitCount; ++part) rows += tables[part] ? tables[part]->rows() : 0;
  for (const int part : {kValidation, kTest})
    if (!restored && tables[part]) encoder.accept_strays(*tables[part], rows);
  // dataset.json: "truth": {"columns": ["x1", "x2"]}
  const auto truth = read_truth(tables, source,
                                [](const Field& planted) { return planted.at("columns").texts(); });
  Splits splits = encode_tables(tables, encoder, [&](TableDataset& data) {
    if (truth) data.set_truth(*truth);
  });
  if (!restored || drawn) return splits;
  for (int split = 0; split < kSplitCount; ++split)  // new rows, perhaps unlike those of training
    if (tables[split])
      for (const std::string& note : encoder.check(*tables[split])) splits.notes.push_back(note);
  return splits;
}

void write_features_data(const std::filesystem::path& folder, const FeaturesDataOptions& options) {
  write_tables(folder, "features", draw_built_in(options, nullptr));
}

}  // namespace fovea
