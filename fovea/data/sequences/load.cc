#include "fovea/data/sequences/load.h"

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/load_tables.h"

namespace fovea {

namespace {

/// dataset.json: "truth": {"map": {"0": "x2", "1": "x7"}}.
ContextTruth read_truth(const Json& description, const DataSource& source) {
  ContextTruth truth;
  const Field root = Field::root(description, (source.path / "dataset.json").string());
  root.at("truth").at("map").each_member(
      [&](const std::string& context, const Field& position) { truth[context] = position.text(); });
  return truth;
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
  const SplitOptions split{.task = "context",
                           .split = rows.split,
                           .fraction = rows.validation_fraction,
                           .seed = seed,
                           .needs_training = !encoder.fitted()};
  const SourceTables tables =
      source.path.empty() ? parse_tables(draw_context(options.generator, rows.validation_fraction))
                          : open_source(source, split);
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
  write_tables(folder, "context",
               draw_context(options.generator, options.rows.validation_fraction));
}

}  // namespace fovea
