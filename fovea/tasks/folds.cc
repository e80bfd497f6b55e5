#include "fovea/tasks/folds.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/prepared.h"

namespace fovea {

namespace {

void check_foldable(const Setup& setup) {
  const std::string& path = setup.common().data_path;
  require(!path.empty(), ErrorKind::InvalidArgument,
          "--folds is for data of your own; the built-in data has its splits. Write it to files "
          "with: fovea data ",
          setup.task_name(), " --out FOLDER");
  require(!is_prepared(path), ErrorKind::InvalidArgument, path,
          ": is prepared, which fixed its splits; --folds needs the files that it was made of");
  require(setup.task().has_folds(), ErrorKind::Unsupported, "--folds: the rows of the task ",
          setup.task_name(), " hang together and are not cut into folds");
}

int64_t steps_of_best(const TrainingResult& result) {
  for (const EpochReport& report : result.epochs)
    if (report.epoch == result.best_epoch) return report.steps;
  return result.steps;
}

}  // namespace

int64_t FoldsResult::median_steps() const {
  if (best_steps.empty()) return 0;
  std::vector<int64_t> steps = best_steps;
  const auto middle = steps.begin() + std::ptrdiff_t(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

Summary FoldsResult::summary(const std::string& metric) const {
  std::vector<double> values;
  for (const Metrics& fold : metrics)
    for (const Metric& one : fold)
      if (one.name == metric && std::isfinite(one.value)) values.push_back(one.value);
  return values.empty() ? Summary{} : summarize(values);
}

Json FoldsResult::to_json() const {
  Json json{{"folds", folds()}, {"steps", median_steps()}, {"metrics", Json::object()}};
  for (const Metrics& fold : metrics)
    for (const Metric& metric : fold)
      json["metrics"][metric.name]["values"].push_back(metric.value);
  for (auto& [name, metric] : json["metrics"].items()) {
    const Summary all = summary(name);
    if (all.count == 0) continue;
    metric["mean"] = all.mean;
    if (all.interval) metric["interval"] = {all.mean - *all.interval, all.mean + *all.interval};
  }
  return json;
}

FoldsResult cross_validate(const FoldsRequest& request) {
  require(request.folds >= 2, ErrorKind::InvalidArgument, "--folds ", request.folds,
          ": at least 2 are needed");
  FoldsResult result;
  for (int64_t fold = 0; fold < request.folds; ++fold) {
    Setup setup = request.make_setup();
    if (fold == 0) check_foldable(setup);
    setup.common().folds = request.folds;
    setup.set_fold(fold);
    TrainRequest one;
    one.hooks.should_stop = request.should_stop;
    const std::string title = concat("fold ", fold + 1, " of ", request.folds);
    if (request.stage)
      one.stage = [&](const Stage& stage, int64_t done, int64_t total) {
        request.stage({concat(title, ": ", stage.title), stage.unit, stage.most_seconds}, done,
                      total);
      };
    one.loaded = [&](const Training& training) {
      one.hooks.progress = training_progress(
          request.stage, {concat(title, ": training"), "rows", training.plan.options.seconds},
          planned_rows(training.plan, training.splits.train->size()));
    };
    const Training training = train(setup, one);
    require(!request.should_stop || !request.should_stop(), ErrorKind::InvalidArgument,
            "--folds: interrupted; nothing was written");
    result.metrics.push_back(training.validation);
    if (!training.fitted)
      result.best_steps.push_back(std::max<int64_t>(1, steps_of_best(training.result)));
    result.batch_size = training.plan.options.batch_size;
    if (request.fold_ended) request.fold_ended(fold + 1, training);
  }
  return result;
}

void use_all_folds(Setup& setup, const FoldsResult& result) {
  setup.common().folds = result.folds();
  if (result.best_steps.empty()) return;  // fitted without steps
  TrainingOptions& training = setup.training();
  training.epochs = 0;
  training.steps = result.median_steps();
  training.batch_size = result.batch_size;
  training.patience = 0;
}

}  // namespace fovea
