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
  apply_roles(source, {{"context", &options.context},
                       {"target", &options.target},
                       {"split", &options.split},
                       {"position", &options.position_columns}});
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
  SourceTables tables =
      source.path.empty() ? parse_tables(draw_context(options.generator, rows.validation_fraction))
                          : open_source(source, split);
  match_columns(tables, encoder);
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
