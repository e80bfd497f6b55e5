// What is said of every row of a data set, for a table of rows: the answer beside what is right, as
// the kind of output compares them. OutputKind::judge_rows() makes it, tasks/record_rows.h collects
// it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/models/model.h"

namespace fovea {

/// How answers are compared.
struct RowsKind {
  std::string name = "";    // class, labels, number, text, tags, span or choice; "": not row by row
  std::string target = "";  // numbers: what they are
  std::string distance = "";   // what RowAnswer::distance is; "": there is none
  std::string surprisal = "";  // what RowAnswer::surprisal is; "": there is none
};

struct RowAnswer {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::string answer = "", truth = "";  // as texts; of classes, labels and numbers below
  std::vector<int64_t> answer_classes = {}, truth_classes = {};  // places in class_names()
  double answer_number = kUnknown, truth_number = kUnknown;
  double probability = kUnknown;             // of the answer
  double surprisal = kUnknown;               // -ln p(truth)
  double distance = kUnknown;                // from the truth
  std::optional<bool> right = std::nullopt;  // of numbers none
};

/// Rows that were predicted together.
struct PredictedRows {
  const Model& model;
  const Dataset& rows;
  std::span<const int64_t> picked;  // which of them
  std::span<const Example> examples;
  std::span<const Prediction> predictions;  // finished
  const Batch& batch;                       // with the targets, on the model's device

  size_t size() const { return picked.size(); }
};

}  // namespace fovea
