#include "fovea/data/sequences/load.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/load_tables.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

Splits load_built_in(const ContextDataOptions& options, ContextEncoder& encoder) {
  const ContextDraw draw = draw_context(options.generator, options.rows.validation_fraction);
  if (!encoder.fitted()) encoder.fit(draw.train, options.rows);
  Splits splits;
  ContentHash hash;
  const int64_t held_out = draw.validation.inputs.size(0);
  hash.add(concat("context ", options_json(options.generator).dump(), " ", held_out));
  splits.hash = hash.text();
  const auto encode = [&](const ContextNumbers& rows) {
    auto encoded = encoder.encode(rows);
    encoded->set_truth(draw.truth());
    return encoded;
  };
  splits.train = encode(draw.train);
  if (held_out > 0) splits.validation = encode(draw.validation);
  splits.notes = encoder.notes();
  splits.notes.push_back(concat("built-in synthetic data, seed ", options.generator.seed, ": ",
                                format_count(options.generator.rows), " training and ",
                                format_count(held_out), " validation rows"));
  return splits;
}

/// dataset.json: "truth": {"map": {"0": "x2", "1": "x7"}}.
ContextTruth read_truth(const Json& description, const DataSource& source) {
  ContextTruth truth;
  const Field root = Field::root(description, (source.path / "dataset.json").string());
  root.at("truth").at("map").each_member(
      [&](const std::string& context, const Field& position) { truth[context] = position.text(); });
  return truth;
}

void write_csv(const std::filesystem::path& path, const ContextNumbers& rows) {
  std::string text = "context," + join(rows.positions, ",") + ",y\n";
  const float* value = rows.inputs.data_ptr<float>();
  for (int64_t row = 0; row < rows.inputs.size(0); ++row) {
    text += rows.contexts[size_t(rows.context.data_ptr<int64_t>()[row])] + ",";
    for (int64_t position = 0; position < rows.inputs.size(1); ++position)
      text += format_exact(*value++) + ",";
    text += format_exact(rows.target.data_ptr<float>()[row]) + "\n";
  }
  write_file(path, text);
}

}  // namespace

void ContextDataOptions::describe(OptionList& list) {
  generator.describe(list);
  rows.describe(list);
}

void apply_roles(const DataSource& source, ContextOptions& options) {
  check_roles(source, {"context", "target", "split", "position"});
  const Roles& roles = source.roles;
  options.context = single_role(roles, "context", options.context);
  options.target = single_role(roles, "target", options.target);
  options.split = single_role(roles, "split", options.split);
  if (roles.contains("position")) options.position_columns = roles.at("position");
}

Splits load_context(const DataSource& source, const ContextDataOptions& options,
                    ContextEncoder& encoder, uint64_t seed) {
  ContextOptions rows = options.rows;
  apply_roles(source, rows);
  if (source.path.empty()) return load_built_in(options, encoder);
  SplitOptions cut;
  cut.task = "context";
  cut.split = rows.split;
  cut.fraction = rows.validation_fraction;
  cut.seed = seed;
  cut.needs_training = !encoder.fitted();
  const SourceTables tables = open_source(source, cut);
  if (!encoder.fitted()) {
    rows.split = tables.split_column;
    rows.standardise = resolve_standardise(rows.standardise, tables.description, "no");
    encoder.fit(*tables.train, rows);
  }
  const bool planted = tables.description.is_object() && tables.description.contains("truth");
  const ContextTruth truth = planted ? read_truth(tables.description, source) : ContextTruth{};
  return encode_tables(tables, encoder, [&](ContextDataset& data) {
    if (planted) data.set_truth(truth);
  });
}

void write_context_data(const std::filesystem::path& folder, const ContextDataOptions& options) {
  const ContextDraw draw = draw_context(options.generator, options.rows.validation_fraction);
  make_folder(folder);
  write_csv(folder / "train.csv", draw.train);
  if (draw.validation.inputs.size(0) > 0) write_csv(folder / "val.csv", draw.validation);
  write_description(folder, "context", options_json(options.generator),
                    {{"truth", {{"map", draw.truth()}}}, {"standardise", "no"}});
}

}  // namespace fovea
