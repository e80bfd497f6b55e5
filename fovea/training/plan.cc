#include "fovea/training/plan.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fovea {

namespace {

constexpr int64_t kSmallestBatch = 16, kStepsOfSmallEpoch = 50;
constexpr double kManyRows = 10'000;
constexpr int64_t kEvaluations = 50;
constexpr int64_t kLeastPatience = 5;

int64_t batch_for(int64_t rows, int64_t largest) {
  const auto share = uint64_t(std::max<int64_t>(1, rows / kStepsOfSmallEpoch));
  return std::min(std::max(kSmallestBatch, int64_t(std::bit_floor(share))), largest);
}

int64_t divide_up(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

}  // namespace

TrainingPlan plan_training(TrainingOptions options, int64_t rows,
                           const std::function<int64_t(const TrainingOptions&)>& count_steps) {
  TrainingPlan plan;
  if (options.batch_size == 0) options.batch_size = batch_for(rows, options.largest_batch);
  plan.steps_per_epoch = std::max<int64_t>(1, count_steps(options));
  const bool epochs_are_open = options.epochs == 0;
  if (epochs_are_open && options.steps == 0) {
    const double steps = double(options.usual_steps) * std::cbrt(1 + double(rows) / kManyRows);
    options.epochs = std::clamp<int64_t>(std::llround(steps / double(plan.steps_per_epoch)),
                                         options.fewest_epochs, options.most_epochs);
  } else if (epochs_are_open) {
    options.epochs = divide_up(options.steps, plan.steps_per_epoch);
    // Where epochs differ in their number of steps, the steps decide.
    if (options.batch_tokens > 0) options.epochs = 2 * options.epochs + 1;
  }
  plan.steps = plan.steps_per_epoch > INT64_MAX / options.epochs
                   ? INT64_MAX
                   : options.epochs * plan.steps_per_epoch;
  if (options.steps > 0) plan.steps = std::min(plan.steps, options.steps);
  if (epochs_are_open && options.schedule != "noam")  // a warm-up must not be the whole training
    options.warmup_steps = std::min(options.warmup_steps, std::max<int64_t>(1, plan.steps / 10));
  const int64_t epochs = divide_up(plan.steps, plan.steps_per_epoch);
  if (options.evaluate_epochs == 0)
    options.evaluate_epochs = epochs_are_open ? divide_up(epochs, kEvaluations) : 1;
  if (options.patience == kByBudget)
    options.patience =
        std::max(kLeastPatience, divide_up(divide_up(epochs, options.evaluate_epochs), 4));
  plan.options = options;
  return plan;
}

}  // namespace fovea
