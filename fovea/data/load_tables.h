// What the loaders of all tasks on tables share: synthetic tables, and splits encoded with planted
// truth and notes.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/dataset.h"
#include "fovea/data/input_table.h"
#include "fovea/data/load.h"
#include "fovea/data/source.h"

namespace fovea {

/// What a generator draws: the CSV files that the tables would be written to.
struct SyntheticTables {
  std::array<std::string, kSplitCount> files = {};  // "": there is no such split
  Json generator = {};                              // the options that drew them
  Json description = {};                            // what else dataset.json says: the truth
  std::string hash = {};
  Notes notes = {};
};

/// As if they had been written and opened.
inline SourceTables parse_tables(SyntheticTables drawn) {
  SourceTables tables;
  for (int split = 0; split < kSplitCount; ++split)
    if (!drawn.files[size_t(split)].empty())
      tables[split] = parse_csv(std::move(drawn.files[size_t(split)]), "the built-in data");
  tables.description = std::move(drawn.description);
  tables.hash = std::move(drawn.hash);
  tables.notes = std::move(drawn.notes);
  return tables;
}

/// train.csv, val.csv, test.csv and dataset.json.
inline void write_tables(const std::filesystem::path& folder, const std::string& task,
                         const SyntheticTables& drawn) {
  constexpr const char* kFiles[kSplitCount] = {"train.csv", "val.csv", "test.csv"};
  make_folder(folder);
  for (int split = 0; split < kSplitCount; ++split)
    if (!drawn.files[size_t(split)].empty())
      write_file(folder / kFiles[split], drawn.files[size_t(split)]);
  write_description(folder, task, drawn.generator, drawn.description);
}

/// Columns that differ only in their case from those of training get their names, and that is
/// noted; nothing where training is yet to come.
template <class Encoder>
void match_columns(SourceTables& tables, const Encoder& encoder) {
  if (!encoder.fitted()) return;
  for (int split = 0; split < kSplitCount; ++split)
    if (tables[split])
      if (const std::string note = match_names(tables[split]->head(), encoder.file_columns());
          !note.empty())
        tables.notes.push_back(note);
}

/// Encodes the splits that the source has. A dropped row is noted; `set_truth` may plant the truth
/// in each data set.
template <class Encoder, class SetTruth>
Splits encode_tables(const SourceTables& tables, const Encoder& encoder, SetTruth set_truth) {
  Splits splits;
  splits.hash = tables.hash;
  splits.notes = encoder.notes();
  splits.notes.insert(splits.notes.end(), tables.notes.begin(), tables.notes.end());
  for (int split = 0; split < kSplitCount; ++split) {
    if (!tables[split]) continue;
    note_unknown_columns(tables[split]->head(), encoder.file_columns(), splits.notes);
    auto data = encoder.encode(*tables[split]);
    if (data->dropped_rows() > 0)
      splits.notes.push_back(concat(format_count(data->dropped_rows()), " ", kSplitNames[split],
                                    " rows without a target were left out"));
    set_truth(*data);
    splits[split] = std::move(data);
  }
  return splits;
}

/// An encoder that is not fitted yet learns from the training rows. Where the user did not say
/// whether to standardise, dataset.json does, or else `standardise`.
template <class Encoder, class Options>
void fit_once(const SourceTables& tables, Options options, const char* standardise,
              Encoder& encoder) {
  if (encoder.fitted()) return;
  options.split = tables.split_column;
  const Json& description = tables.description;
  if (options.standardise == "auto")
    options.standardise =
        description.is_object() ? description.value("standardise", standardise) : standardise;
  encoder.fit(*tables.train, options);
}

/// read(truth) of what dataset.json says is planted; nothing where nothing is.
template <class Read>
auto read_truth(const SourceTables& tables, const DataSource& source, const Read& read)
    -> std::optional<decltype(read(std::declval<const Field&>()))> {
  if (!tables.description.is_object()) return {};
  const std::string where = (source.path / "dataset.json").string();
  const auto truth = Field::root(tables.description, where).find("truth");
  if (!truth) return {};
  return read(*truth);
}

}  // namespace fovea
