// The data of the task `__name__`: letters, and which of them is most frequent. Files have one row a
// line, "letters<TAB>letter"; without a file rows are drawn. docs/formats/__name__.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/base/options.h"
#include "fovea/data/load.h"

namespace fovea {

struct __Name__Row {
  std::string letters, label;
};

/// Everything under data. for this task.
struct __Name__DataOptions {
  int64_t rows = 1000;  // training rows that are drawn
  double validation_fraction = 0.1;
  void describe(OptionList& list);
};

/// What is learned from the training rows and kept in the run: here the classes; means and
/// vocabularies belong here too.
struct __Name__Coding {
  std::vector<std::string> classes;

  Json to_json() const;
  static __Name__Coding from_json(const Json& json, const std::string& where);
};

/// "letters" [T] int64, 1 … 26. BadData for anything but letters from a to z.
Example __name___example(const std::string& letters);
/// Padded with 0: "letters" [B, T] and "letters.keep", and "target" [B] where they have one.
Batch collate___name__(std::span<const Example> examples);

/// Rows of a file, BadData with path:line.
FileRows<__Name__Row> read___name__(const std::filesystem::path& path,
                                    const RowSink<__Name__Row>& sink = {});
SplitRows<__Name__Row> draw___name__(const __Name__DataOptions& options);

/// Reads or draws. The coding is learned from the training rows where it has no classes yet.
Splits load___name__(const DataSource& source, const __Name__DataOptions& options,
                     __Name__Coding& coding, uint64_t seed);
/// Writes the drawn rows as files that read back the same.
void write___name___data(const std::filesystem::path& folder, const __Name__DataOptions& options);

}  // namespace fovea
