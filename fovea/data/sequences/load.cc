#include "fovea/data/sequences/load.h"

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/load_tables.h"

namespace fovea {

namespace {

/// {"map": {"0": "x2", "1": "x7"}}
ContextTruth to_context_truth(const Field& planted) {
  ContextTruth truth;
  planted.at("map").each_member(
      [&](const std::string& context, const Field& position) { truth[context] = position.text(); });
  return truth;
}

/// What --columns says wins over what the options held.
ContextOptions with_roles(ContextOptions options, const DataSource& source) {
  check_roles(source, {"context", "target", "split", "position"});
  const Roles& roles = source.roles;
  options.context = single_role(roles, "context", options.context);
  options.target = single_role(roles, "target", options.target);
  options.split = single_role(roles, "split", options.split);
  if (roles.contains("position")) options.position_columns = roles.at("position");
  return options;
}

}  // namespace

void ContextDataOptions::describe(OptionList& list) {
  generator.describe(list);
  rows.describe(list);
}

Splits load_context(const DataSource& source, const ContextDataOptions& options,
                    ContextEncoder& encoder, uint64_t seed) {
  const ContextOptions rows = with_roles(options.rows, source);
  const SplitOptions split{"context", rows.validation_fraction, seed, !encoder.fitted(),
                           rows.split};
  const SourceTables tables =
      source.path.empty() ? parse_tables(draw_context(options.generator, rows.validation_fraction))
                          : open_source(source, split);
  fit_once(tables, rows, "no", encoder);
  const auto truth = read_truth(tables, source, to_context_truth);
  return encode_tables(tables, encoder, [&](ContextDataset& data) {
    if (truth) data.set_truth(*truth);
  });
}

void write_context_data(const std::filesystem::path& folder, const ContextDataOptions& options) {
  write_tables(folder, "context",
               draw_context(options.generator, options.rows.validation_fraction));
}

}  // namespace fovea
