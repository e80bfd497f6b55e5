// What a training says of itself: after some epochs, and at its end.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/metrics/metric.h"

namespace fovea {

/// After every training.evaluate_epochs epochs.
struct EpochReport {
  int64_t epoch = 0;         // from 1
  int64_t steps = 0;         // optimiser steps so far
  double loss = 0;           // mean over the rows since the last report, the weights moving
  double learning_rate = 0;  // of the last step
  double seconds = 0;        // training alone, since the last report
  Metrics validation;
  bool best = false;  // by the first monitored metric
  Json to_json() const;
};

/// The last reports gained on those before, by `monitored`, or by the loss where it is not
/// measured: more epochs would probably have helped.
bool is_still_improving(const std::vector<EpochReport>& reports, const std::string& monitored);

/// training.average_epochs: the mean of the weights after the last epochs.
struct AverageReport {
  int64_t epochs = 0;  // how many were averaged; 0: nothing was
  Metrics validation;
  bool best = false;  // no worse than the best epoch, and therefore kept
};

enum class TrainingEnd {
  Budget,       // all epochs, or steps
  Patience,     // no gain any more
  Time,         // training.seconds
  Interrupted,  // should_stop
  Diverged,     // the loss grew and grew, at every rate that was tried
};
/// "budget", "patience", …
const char* name_of(TrainingEnd end);

struct TrainingResult {
  std::vector<EpochReport> epochs;  // the reports of this call
  AverageReport average;
  int64_t best_epoch = 0, last_epoch = 0, planned_epochs = 0;
  int64_t steps = 0, restarts = 0;
  bool stopped = false;  // by should_stop, before the end
  TrainingEnd end = TrainingEnd::Budget;
  bool still_improving = false;  // more epochs would probably have helped
  double seconds = 0;            // training alone, this call

  /// "stopped at epoch 7 of at most 60: no gain since 4".
  std::string summary() const;
  Json to_json() const;  // how it ended
};

/// InvalidArgument names the nearest where training.monitor names no metric of these.
void check_monitors(const std::vector<std::string>& monitored, const Metrics& metrics);

}  // namespace fovea
