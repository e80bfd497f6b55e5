// Fair comparison: every combination of the varied options, each trained from several seeds, with
// the mean and the 95 % interval of every metric.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/text.h"
#include "fovea/explain/draw/chart.h"
#include "fovea/metrics/statistics.h"
#include "fovea/tasks/setup.h"

namespace fovea {

struct Variation {
  std::string key;  // "model.name"
  std::vector<std::string> values;
};

struct CompareRequest {
  std::function<Setup()> make_setup;  // everything that does not vary
  std::vector<Variation> variations;
  std::vector<std::string> also;  // "key=value": one row more for each, beside the grid
  int64_t seeds = 5;              // the setup's seed and the ones after it
  int64_t jobs = 1;               // trainings at the same time, each in a process of its own
  std::filesystem::path keep;     // folder for the runs themselves; empty: they are not kept
  std::function<void(int64_t done, int64_t total, const std::string& now)>
      progress;                       // may be empty
  std::function<bool()> should_stop;  // may be empty
};

/// One combination.
struct CompareRow {
  std::vector<std::string> values;  // in the order of the variations
  int64_t parameters = 0;
  std::vector<Metrics> by_seed;  // of the best weights: on the test rows if there are any, else on
                                 // the validation rows
  std::vector<double> seconds;   // of training
  std::vector<LengthCurve> curves;  // by seed; empty where the task has none
};

/// The row with the best mean of the metric that decides, and how sure that is.
struct CompareWinner {
  size_t row = 0, runner_up = 0;
  double difference = 0;           // of the means, above 0
  std::optional<double> interval;  // half of the 95 % interval of the differences, seed by seed
  bool is_certain() const { return interval && difference > *interval; }
};

struct Comparison {
  std::string task, split;
  std::string main;  // the metric that decides
  bool higher_is_better = true;
  std::vector<std::string> keys;
  std::vector<int64_t> seeds;
  std::vector<CompareRow> rows;

  /// Of two rows at least.
  std::optional<CompareWinner> winner() const;
  /// "best by accuracy: attention, 0.868; ahead of plain by 0.002 ± 0.005, which may be chance".
  std::string verdict() const;
  Json to_json() const;     // every value of every seed
  TextTable table() const;  // mean ± half of the 95 % interval; * marks the winner
  /// The task's metric against the length of the source, a line per row; nothing where the task has
  /// no such curve.
  std::optional<LineChart> chart() const;
};

Comparison compare(const CompareRequest& request);

}  // namespace fovea
