#include "fovea/tasks/training_time.h"

#include <algorithm>
#include <chrono>

#include "fovea/data/row_subset.h"
#include "fovea/training/trainer.h"

namespace fovea {

namespace {

constexpr double kShareOfLooks = 0.125;  // of the time for steps
constexpr double kLeastOfLooks = 0.05;   // of a look: less tells what beginning costs

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of one look at the rows, told from a part of them where it takes more than `enough`.
double time_evaluation(const Task& task, const Model& model,
                       const std::shared_ptr<const Dataset>& rows, double enough) {
  for (int64_t count = 8;; count *= 8) {
    const auto some = sample_rows(rows, count);
    const double begin = clock_seconds();
    task.measure(model, *some);
    const double taken = clock_seconds() - begin;
    if (some->size() == rows->size() || taken > enough)
      return taken * double(rows->size()) / double(some->size());
  }
}

}  // namespace

TrainingTime time_network(const Setup& setup, const Splits& splits, double seconds) {
  TrainingTime time;
  const auto model = fresh_model(setup);
  const TrainingOptions& options = setup.training();
  if (splits.validation)
    time.evaluation =
        time_evaluation(setup.task(), *model, sample_rows(splits.validation, options.evaluate_rows),
                        std::max(kLeastOfLooks, kShareOfLooks * seconds));
  time.step = Trainer(*model, options, static_cast<uint64_t>(setup.common().seed))
                  .time_step(*splits.train, seconds);
  return time;
}

double planned_seconds(const TrainingPlan& plan, const TrainingTime& time) {
  const double epochs = double(plan.steps) / double(plan.steps_per_epoch);
  return double(plan.steps) * time.step +
         epochs / double(plan.options.evaluate_epochs) * time.evaluation;
}

double with_refit(double seconds, const Splits& splits) {
  return seconds * (2 + double(splits.validation->size()) / double(splits.train->size()));
}

int64_t planned_rows(const TrainingPlan& plan, int64_t rows) {
  return int64_t(double(plan.steps) / double(plan.steps_per_epoch) * double(rows));
}

std::function<void(int64_t, double)> training_progress(const StageProgress& progress,
                                                       const Stage& stage, int64_t total) {
  if (!progress) return {};
  progress(stage, 0, total);
  return [=](int64_t rows, double) { progress(stage, rows, total); };
}

std::unique_ptr<Model> fresh_model(const Setup& setup) {
  auto model = setup.task().make_model();
  model->initialise(Random(static_cast<uint64_t>(setup.common().seed)).split("weights"));
  model->to(setup.prepare_device());
  return model;
}

}  // namespace fovea
