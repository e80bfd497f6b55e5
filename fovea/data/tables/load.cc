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

/// The built-in data; validation is its tail.
struct BuiltIn {
  FeaturesDraw draw;
  NumberTable train, validation;
};

NumberTable rows_of(const NumberTable& table, int64_t begin, int64_t count) {
  NumberTable part = table;
  part.inputs = table.inputs.narrow(0, begin, count);
  part.labels = table.labels.narrow(0, begin, count);
  return part;
}

BuiltIn draw_built_in(const FeaturesDataOptions& options) {
  const TableOptions& table = options.table;
  BuiltIn data{draw_features(options.generator), {}, {}};
  require(table.target.empty() || table.target == data.draw.table.target, ErrorKind::NotFound,
          "the built-in data has the target 'y', not '", table.target, "'");
  require(table.target_kind == "auto" || table.target_kind == "two-classes",
          ErrorKind::InvalidArgument,
          "the built-in data has two classes; target_kind=", table.target_kind, " does not fit");
  const double fraction =
      table.validation_fraction < 0 ? kBuiltInFraction : table.validation_fraction;
  const int64_t rows = options.generator.rows;
  const int64_t held_out =
      fraction == 0 ? 0 : std::clamp<int64_t>(std::llround(fraction * double(rows)), 1, rows - 1);
  data.train = rows_of(data.draw.table, 0, rows - held_out);
  data.validation = rows_of(data.draw.table, rows - held_out, held_out);
  return data;
}

Splits load_built_in(const FeaturesDataOptions& options, TableEncoder& encoder) {
  const BuiltIn data = draw_built_in(options);
  if (!encoder.fitted()) encoder.fit(data.train, options.table);
  Splits splits;
  ContentHash hash;
  hash.add(concat("features ", options_json(options.generator).dump(), " ",
                  data.validation.inputs.size(0)));
  splits.hash = hash.text();
  const auto encode = [&](const NumberTable& table) {
    auto encoded = encoder.encode(table);
    encoded->set_truth(data.draw.informative);
    return encoded;
  };
  splits.train = encode(data.train);
  if (data.validation.inputs.size(0) > 0) splits.validation = encode(data.validation);
  splits.notes = encoder.notes();
  splits.notes.push_back(concat("built-in synthetic data: label '", options.generator.label,
                                "' of ", join(data.draw.informative), ", law '",
                                options.generator.law, "', seed ", options.generator.seed,
                                "; the last ", format_count(data.validation.inputs.size(0)), " of ",
                                format_count(options.generator.rows), " rows are for validation"));
  return splits;
}

void write_csv(const std::filesystem::path& path, const NumberTable& table) {
  std::string text = join(table.names, ",") + "," + table.target + "\n";
  const at::Tensor inputs = table.inputs.contiguous(), labels = table.labels.contiguous();
  const float* value = inputs.data_ptr<float>();
  for (int64_t row = 0; row < inputs.size(0); ++row) {
    for (int64_t column = 0; column < inputs.size(1); ++column)
      text += format_exact(*value++) + ",";
    text += table.classes[size_t(labels.data_ptr<int64_t>()[row])] + "\n";
  }
  write_file(path, text);
}

/// What --columns says wins over what the options held.
TableOptions with_roles(TableOptions options, const DataSource& source) {
  check_roles(source, {"target", "split", "drop", "feature"});
  const Roles& roles = source.roles;
  options.target = single_role(roles, "target", options.target);
  options.split = single_role(roles, "split", options.split);
  if (roles.contains("drop")) options.drop = roles.at("drop");
  if (roles.contains("feature")) options.features = roles.at("feature");
  return options;
}

}  // namespace

void FeaturesDataOptions::describe(OptionList& list) {
  generator.describe(list);
  table.describe(list);
}

Splits load_features(const DataSource& source, const FeaturesDataOptions& options,
                     TableEncoder& encoder, uint64_t seed, bool* held_out) {
  const TableOptions table = with_roles(options.table, source);
  if (held_out) *held_out = false;
  if (source.path.empty()) return load_built_in(options, encoder);
  const std::string target = encoder.fitted() ? encoder.layout().target : table.target;
  const SplitOptions split{
      "features", table.validation_fraction, seed, !encoder.fitted(), table.split, target};
  SourceTables tables = open_source(source, split);
  if (held_out && tables.validation && tables.split_column.empty())
    *held_out = !std::filesystem::is_directory(source.path) ||
                !find_split_files(source.path, table_endings())[kValidation];
  const bool restored = encoder.fitted();
  for (int part = 0; restored && part < kSplitCount; ++part)
    if (tables[part])
      if (const std::string note = match_names(*tables[part], encoder.file_columns());
          !note.empty())
        tables.notes.push_back(note);
  fit_once(tables, table, "yes", encoder);
  // dataset.json: "truth": {"columns": ["x1", "x2"]}
  const auto truth = read_truth(tables, source,
                                [](const Field& planted) { return planted.at("columns").texts(); });
  Splits splits = encode_tables(tables, encoder, [&](TableDataset& data) {
    if (truth) data.set_truth(*truth);
  });
  if (!restored) return splits;
  for (int part = 0; part < kSplitCount; ++part)  // new rows, perhaps unlike those of training
    if (tables[part])
      for (const std::string& note : encoder.check(*tables[part])) splits.notes.push_back(note);
  return splits;
}

void write_features_data(const std::filesystem::path& folder, const FeaturesDataOptions& options) {
  const BuiltIn data = draw_built_in(options);
  make_folder(folder);
  write_csv(folder / "train.csv", data.train);
  if (data.validation.inputs.size(0) > 0) write_csv(folder / "val.csv", data.validation);
  write_description(folder, "features", options_json(options.generator),
                    {{"truth", {{"columns", data.draw.informative}}}, {"standardise", "no"}});
}

}  // namespace fovea
