// The data of the task `visits`, from wherever it comes, in splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/source.h"
#include "fovea/data/visits/encoder.h"
#include "fovea/tensor/answer_kind.h"

namespace fovea {

/// Everything under data. for this task.
struct VisitsDataOptions {
  SyntheticVisitsOptions generator;
  VisitsOptions reading;
  LabelOptions target;
  std::vector<std::string> positive;  // labels that are the outcome; empty: found out
  int64_t minimum_count = 5;
  int64_t maximum_visits = 200;
  std::string time_unit = "days";
  double validation_fraction = 0.1;
  void describe(OptionList& list);
};

/// What is learned from the data and kept in the run.
struct VisitCoding {
  std::shared_ptr<const Vocabulary> codes;
  std::vector<std::string> negative, positive;  // labels of one outcome
  std::vector<std::string> labels;              // several outcomes, in place of the one
  std::string separator;                        // between the labels of a cell
  bool times = false;                           // visits have them
  Roles columns;                                // what they were called

  bool fitted() const { return codes != nullptr; }
  AnswerKind kind() const { return labels.empty() ? AnswerKind::Class : AnswerKind::Labels; }
  /// The labels; or without the outcome and with it: "no" and "yes", "<30 or >30".
  std::vector<std::string> classes() const;
  std::string outcome() const { return join(positive, " or "); }
  VisitEncoder encoder(const VisitsDataOptions& options) const;
  Json to_json() const;
  static VisitCoding from_json(const Json& json, const std::string& where);
};

/// Reads a file or folder (reader.h), or draws the synthetic patients. A first call finds
/// the codes and which labels are the outcome. BadData for training patients of one label alone,
/// for more than two labels without data.positive and, later, for a label that was not there.
Splits load_visits(const DataSource& source, const VisitsDataOptions& options, VisitCoding& coding,
                   uint64_t seed);

/// The patients of a table whose columns are called as in training, for answers: all of them, in
/// the order of their first lines, with or without labels.
std::shared_ptr<VisitDataset> encode_patients(const CsvTable& table,
                                              const VisitsDataOptions& options,
                                              const VisitCoding& coding);

/// Writes the synthetic data as train.tsv, val.tsv, test.tsv and dataset.json, which holds the
/// planted truth: loading the folder gives the same rows.
void write_visits_data(const std::filesystem::path& folder, const VisitsDataOptions& options);

}  // namespace fovea
