// What `fovea evaluate` says of a model on some rows: metrics with the interval of the one that
// decides, the same of baselines, and where the mistakes are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/metrics/classification.h"
#include "fovea/metrics/entities.h"
#include "fovea/metrics/intervals.h"
#include "fovea/metrics/regression.h"
#include "fovea/tasks/baselines.h"

namespace fovea {

/// From this share of one class on accuracy says little: always answering it has as much.
constexpr double kMostlyOneClass = 0.8;

/// One row far off, in the unit of the target.
struct WorstRow {
  int64_t row = 0;  // from 1, among the rows that were measured
  double target = 0, prediction = 0;
};

/// Errors of the parts of an answer: of each series, of each step ahead.
struct ErrorTable {
  std::string by;                              // "series", "step"
  std::vector<std::string> columns;            // "mae", …
  std::vector<std::string> names = {};         // of the rows
  std::vector<std::vector<double>> rows = {};  // a number for each column
  std::vector<size_t> shown = {};              // rows for a terminal; empty: all of them
};

struct Evaluation {
  Metrics metrics;
  std::string main;                  // which of them decides; "": none
  std::optional<Interval> interval;  // 95 %, of it
  std::vector<BaselineResult> baselines;

  // Classes.
  std::vector<std::string> classes;
  at::Tensor confusion;  // row = target, column = predicted, [C, C]; undefined: no classes
  std::optional<double> threshold;  // from which on the second class is the answer
  std::string threshold_rule;       // that chose it
  double temperature = 1;
  std::optional<double> uncalibrated_error;  // calibration_error with temperature 1

  // Numbers, in the unit of the target.
  std::string target;
  std::optional<Residuals> residuals;
  std::vector<WorstRow> worst;

  // Forecasts, in the unit of each series.
  std::vector<ErrorTable> errors;

  // Tags.
  std::vector<std::pair<std::string, EntityScore>> entities;  // by type

  const Metric* find(const std::string& name) const;
  /// Adds metrics, or gives those that are there another value.
  void merge(const Metrics& more);

  /// "accuracy 0.868 ± 0.006 (majority 0.759, logistic regression 0.851)"; "" without a main
  /// metric.
  std::string headline() const;
  /// What a reader must not miss, one sentence each: baselines that are not beaten, rare classes,
  /// the threshold.
  std::vector<std::string> remarks() const;
  /// Tables for a terminal, with an empty line between them.
  std::string text() const;
  /// {"metrics", "main", "baselines", "classes", …}; what there is not is left out.
  Json to_json() const;
};

/// {name: value}; NaN becomes null.
Json to_json(const Metrics& metrics);

}  // namespace fovea
