// What the loaders of all tasks on tables share: synthetic tables, and splits encoded with planted
// truth and notes.
#pragma once

#include <array>
#include <memory>
#include <optional>

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
    note_unknown_columns(*tables[split], encoder.file_columns(), splits.notes);
    auto data = encoder.encode(*tables[split]);
    if (data->dropped_rows() > 0)
      splits.notes.push_back(concat(format_count(data->dropped_rows()), " ", kSplitNames[split],
                                    " rows without a target were left out"));
    set_truth(*data);
    splits[split] = std::move(data);
  }
  return splits;
}

/// "yes" or "no": what the user said, else what dataset.json says, else `otherwise`.
inline std::string resolve_standardise(const std::string& option, const Json& description,
                                       const char* otherwise) {
  if (option != "auto") return option;
  return description.is_object() ? description.value("standardise", otherwise) : otherwise;
}

}  // namespace fovea
