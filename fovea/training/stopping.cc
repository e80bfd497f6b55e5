#include "fovea/training/stopping.h"

#include <cmath>

namespace fovea {

namespace {

/// The rule of graph attention's paper: what is as good as ever counts. True: time to stop.
bool note_ties(const Metrics& metrics, const std::vector<std::string>& monitored, int64_t epoch,
               int64_t patience, TrainerState& state) {
  bool any = false, all = true;  // of the metrics are as good as ever
  for (const std::string& name : monitored) {
    const Metric* metric = find_metric(metrics, name);
    MonitorState& monitor = state.monitors[name];
    const bool reached =
        !monitor.has_best || !std::isfinite(monitor.best) ||
        (metric->higher_is_better ? metric->value >= monitor.best : metric->value <= monitor.best);
    if (reached) monitor.best = metric->value, monitor.has_best = true;
    any = any || reached;
    all = all && reached;
  }
  if (all) state.best_epoch = epoch;
  int64_t waited = 0;
  for (const std::string& name : monitored) {
    MonitorState& monitor = state.monitors[name];
    waited = monitor.epochs_without_gain = any ? 0 : monitor.epochs_without_gain + 1;
  }
  return patience > 0 && waited >= patience;
}

}  // namespace

bool note_gains(const TrainingOptions& options, const EpochReport& report, TrainerState& state) {
  Metrics metrics = report.validation;
  std::vector<std::string> monitored = options.monitor;
  if (metrics.empty()) {  // nothing to validate on: the training loss decides
    metrics = {{"loss", report.loss, false}};
    monitored = {"loss"};
  }
  check_monitors(monitored, metrics);
  if (options.stop_rule == "ties")
    return note_ties(metrics, monitored, report.epoch, options.patience, state);
  size_t stalled = 0;
  bool tied = false;  // the first metric is as good as at its best: then the next decides
  for (size_t i = 0; i < monitored.size(); ++i) {
    const std::string& name = monitored[i];
    const Metric* metric = find_metric(metrics, name);
    MonitorState& monitor = state.monitors[name];
    const double gain =
        metric->higher_is_better ? metric->value - monitor.best : monitor.best - metric->value;
    // A best value that is no number, as the AUC of one class, is worth nothing.
    const bool gained =
        !monitor.has_best || !std::isfinite(monitor.best) || gain > options.minimum_gain;
    if (i == 0) tied = gain == 0;
    if (gained) monitor.best = metric->value, monitor.has_best = true;
    monitor.epochs_without_gain = gained ? 0 : monitor.epochs_without_gain + 1;
    if (gained && (i == 0 || (i == 1 && tied))) state.best_epoch = report.epoch;
    stalled += monitor.epochs_without_gain >= options.patience;
  }
  if (options.patience == 0) return false;
  return options.stop_rule == "either" ? stalled > 0 : stalled == monitored.size();
}

}  // namespace fovea
