#include "fovea/training/report.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {

Json EpochReport::to_json() const {
  Json json{{"epoch", epoch},     {"steps", steps},
            {"loss", loss},       {"learning_rate", learning_rate},
            {"seconds", seconds}, {"best", best}};
  for (const Metric& metric : validation) json["validation"][metric.name] = metric.value;
  for (const Metric& metric : validation)
    if (!metric.higher_is_better) json["lower_is_better"].push_back(metric.name);
  return json;
}

/// The last fifth of the reports gained more than 1 % on all before; of few reports, half of that.
bool is_still_improving(const std::vector<EpochReport>& reports, const std::string& monitored) {
  constexpr size_t kFew = 10;
  const double least_gain = reports.size() < kFew ? 0.005 : 0.01;
  const size_t last = std::max<size_t>(1, reports.size() / 5);
  if (reports.size() < 2) return false;
  double best[2] = {-INFINITY, -INFINITY};  // before, and then; higher is better
  for (size_t i = 0; i < reports.size(); ++i) {
    double value = -reports[i].loss;
    if (const Metric* metric = find_metric(reports[i].validation, monitored))
      value = metric->higher_is_better ? metric->value : -metric->value;
    double& so_far = best[i + last >= reports.size()];
    if (value > so_far) so_far = value;
  }
  return best[1] - best[0] > least_gain * std::abs(best[0]);
}

const char* name_of(TrainingEnd end) {
  constexpr const char* names[] = {"budget", "patience", "time", "interrupted", "diverged"};
  return names[size_t(end)];
}

std::string TrainingResult::summary() const {
  const std::string since = best_epoch > 0 ? concat("no gain since ", best_epoch) : "no gain";
  switch (end) {
    case TrainingEnd::Patience:
      return concat("stopped at epoch ", last_epoch, " of at most ", planned_epochs, ": ", since);
    case TrainingEnd::Time:
      return concat("the time is up in epoch ", last_epoch, " of at most ", planned_epochs,
                    "; best: ", best_epoch);
    case TrainingEnd::Interrupted:
      return concat("interrupted after epoch ", last_epoch, " of at most ", planned_epochs);
    case TrainingEnd::Diverged:
      return concat("stopped at epoch ", last_epoch, ": the loss only grows; best: ", best_epoch);
    case TrainingEnd::Budget:
      break;
  }
  return still_improving
             ? concat("still improving at the end, epoch ", last_epoch)
             : concat("all ", planned_epochs, planned_epochs == 1 ? " epoch" : " epochs",
                      "; best: ", best_epoch);
}

Json TrainingResult::to_json() const {
  return {{"reason", name_of(end)},
          {"epoch", last_epoch},
          {"epochs", planned_epochs},
          {"steps", steps},
          {"restarts", restarts},
          {"best_epoch", best_epoch},
          {"still_improving", still_improving},
          {"summary", summary()}};
}

void check_monitors(const std::vector<std::string>& monitored, const Metrics& metrics) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics) names.push_back(metric.name);
  for (const std::string& name : monitored)
    require(find_metric(metrics, name) != nullptr, ErrorKind::InvalidArgument,
            "training.monitor: there is no metric '", name, "'", suggestion(name, names),
            "; there are: ", join(names));
}

}  // namespace fovea
