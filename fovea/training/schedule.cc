#include "fovea/training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"

namespace fovea {

Schedule::Schedule(const TrainingOptions& options, int64_t steps_per_epoch)
    : options_(options),
      kind_(options.schedule == "step"      ? Kind::Step
            : options.schedule == "cosine"  ? Kind::Cosine
            : options.schedule == "linear"  ? Kind::Linear
            : options.schedule == "noam"    ? Kind::Noam
            : options.schedule == "plateau" ? Kind::Plateau
                                            : Kind::Constant),
      steps_per_epoch_(std::max<int64_t>(1, steps_per_epoch)) {
  require(options.schedule != "noam" || options.warmup_steps > 0, ErrorKind::InvalidArgument,
          "training.schedule=noam needs training.warmup_steps (the paper: 4000)");
}

double Schedule::rate(int64_t step) const {
  return scale * usual_rate(step);
}

double Schedule::usual_rate(int64_t step) const {
  const double s = double(step), warmup = double(options_.warmup_steps),
               top = options_.learning_rate;
  if (kind_ == Kind::Noam)
    return top / std::sqrt(double(options_.model_width)) *
           std::min(1 / std::sqrt(s), s * std::pow(warmup, -1.5));
  const double rise = warmup > 0 ? std::min(1.0, s / warmup) : 1;
  if (kind_ == Kind::Constant) return rise * top;
  double total = double(options_.epochs) * double(steps_per_epoch_);
  if (options_.steps > 0) total = std::min(total, double(options_.steps));
  const double of_steps = std::clamp((s - warmup) / std::max(1.0, total - warmup), 0.0, 1.0);
  const double share = std::max(of_steps, std::min(time_share, 1.0));
  const double floor = std::min(options_.minimum_rate, top);
  if (kind_ == Kind::Step) {
    const int64_t steps_due = (step - 1) / steps_per_epoch_ / options_.step_epochs;
    return rise * top * std::pow(options_.step_factor, double(steps_due));
  }
  if (kind_ == Kind::Cosine)
    return rise * (floor + (top - floor) * (1 + std::cos(std::numbers::pi * share)) / 2);
  if (kind_ == Kind::Linear) return rise * (floor + (top - floor) * (1 - share));
  return rise * std::max(floor, top * std::pow(options_.step_factor, double(cuts)));  // plateau
}

void Schedule::epoch_ended(bool gained) {
  epochs_without_gain = gained ? 0 : epochs_without_gain + 1;
  if (epochs_without_gain <= options_.plateau_patience) return;
  ++cuts;
  epochs_without_gain = 0;
}

}  // namespace fovea
