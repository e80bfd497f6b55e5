// What the loaders of all tasks on tables share: encode the parts of a source, with planted truth
// and notes.
#pragma once

#include <memory>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/data/dataset.h"
#include "fovea/data/input_table.h"
#include "fovea/data/source.h"

namespace fovea {

/// Encodes the parts that the source has. A dropped row is noted; `set_truth` may plant the truth
/// in each data set.
template <class Encoder, class SetTruth>
Splits encode_tables(const SourceTables& tables, const Encoder& encoder, SetTruth set_truth) {
  Splits splits;
  splits.hash = tables.hash;
  splits.notes = encoder.notes();
  splits.notes.insert(splits.notes.end(), tables.notes.begin(), tables.notes.end());
  const auto encode = [&](const std::optional<CsvTable>& table,
                          const char* part) -> std::shared_ptr<Dataset> {
    if (!table) return nullptr;
    note_unknown_columns(*table, encoder.file_columns(), splits.notes);
    auto data = encoder.encode(*table);
    if (data->dropped_rows() > 0)
      splits.notes.push_back(concat(format_count(data->dropped_rows()), " ", part,
                                    " rows without a target were left out"));
    set_truth(*data);
    return data;
  };
  splits.train = encode(tables.train, "training");
  splits.validation = encode(tables.validation, "validation");
  splits.test = encode(tables.test, "test");
  return splits;
}

/// "yes" or "no": what the user said, else what dataset.json says, else `otherwise`.
inline std::string resolve_standardise(const std::string& option, const Json& description,
                                       const char* otherwise) {
  if (option != "auto") return option;
  return description.is_object() ? description.value("standardise", otherwise) : otherwise;
}

}  // namespace fovea
