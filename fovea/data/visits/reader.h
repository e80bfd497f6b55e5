// Health records, one visit a line: patient, time or order, codes, label. CSV, TSV or JSONL, plain
// or gzip. Which column is what is said by roles (--columns patient=id,label=readmitted); without
// roles the columns are called patient, time, codes and label. The lines of a patient need not
// stand together: they become one record, its visits in the order of time.
// docs/formats/visits.md states the rules and what is refused.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/label_cells.h"
#include "fovea/data/load.h"
#include "fovea/data/source.h"

namespace fovea {

/// One label, or several (data/label_cells.h).
struct VisitLabel {
  std::string label = {};  // as it stands in the file, of a List all in one text; "": none
  LabelCell cell = LabelCell::One;
  std::vector<std::string> labels = {};  // of a List

  /// None of several labels is a label too.
  bool is_there() const { return !label.empty() || cell != LabelCell::One; }
};

struct Visit {
  std::vector<std::string> codes;   // none of them twice
  std::optional<double> time = {};  // later is larger; days where dates were given
  VisitLabel answer = {};           // with data.labels=every: what is to be known at this visit
};

struct PatientRecord {
  std::string name;
  std::vector<Visit> visits;  // the oldest first
  std::string label;          // of the last visit; "" where none is asked for
  LabelCell cell = LabelCell::One;
  std::vector<std::string> labels = {};  // of a List

  VisitLabel answer() const { return {label, cell, labels}; }
  void set_answer(const VisitLabel& answer) {
    label = answer.label, cell = answer.cell, labels = answer.labels;
  }
};

/// An answer of these labels.
VisitLabel list_of_labels(std::vector<std::string> labels);

struct VisitsOptions {
  Roles roles;  // patient, time, codes, label, split: names of columns or keys; code: any number of
                // columns whose cells are codes of their own
  std::string separator = " ";  // between the codes of a cell; a blank stands for any white space
  std::string labels = "last";  // that of the last visit counts; same: all of a patient must
                                // agree; every: each visit is to be answered by its own
  std::string quotes = "auto";  // yes, no; auto: quotes are text in a TSV and quote in a CSV
  bool needs_label = true;      // no: for answers; then no patient is left out
  int64_t max_bytes = int64_t{4} << 30;  // of one file, unpacked
  bool every() const { return labels == "every"; }
  /// All but roles and needs_label.
  void describe(OptionList& list);
};

/// Patients in the order of their first lines. Lines without a patient, and where labels are needed
/// patients without a code or a label, are left out and noted. BadData with path:line, also for a
/// patient in two splits; NotFound for a column that is not there.
FileRows<PatientRecord> read_visits(const std::filesystem::path& path, const VisitsOptions& options,
                                    const RowSink<PatientRecord>& sink = {});

/// The same of a table that was read already.
FileRows<PatientRecord> visits_in_table(const CsvTable& table, const VisitsOptions& options);

/// A file, a folder with train, val and test files (.csv .tsv .tab .jsonl .ndjson), or one with a
/// single file called visits. Splits are cut between patients, never within one. `options.roles`
/// are the source's. BadData for a patient in two files.
SplitRows<PatientRecord> open_visits(const DataSource& source, const SplitOptions& split,
                                     VisitsOptions options);

/// Without empty ones and repetitions, in their order.
std::vector<std::string> distinct_codes(const std::vector<std::string>& codes);

/// The distinct codes of a cell, as `separator` divides them.
std::vector<std::string> parse_codes(std::string_view cell, const std::string& separator);

}  // namespace fovea
