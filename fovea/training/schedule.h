// The learning rate as a function of the step. All but plateau depend on nothing but the step, so
// they need no state:
//   constant  r
//   step      r f^(epoch / n)
//   cosine    m + (r - m) (1 + cos(pi p)) / 2              p: share of the steps after the warm-up
//   linear    m + (r - m) (1 - p)
//   noam      r w^-.5 min(s^-.5, s u^-1.5)                  Vaswani et al. 2017, u warm-up steps, w
//   model width plateau   r f^cuts, one cut after every `plateau_patience` looks without gain
// Except for noam, a warm-up multiplies by min(1, s / u). Steps count from 1. The options are those
// of a plan (plan.h): they say how many epochs there are.
#pragma once

#include <cstdint>

#include "fovea/training/options.h"

namespace fovea {

class Schedule {
 public:
  Schedule(const TrainingOptions& options, int64_t steps_per_epoch);

  double rate(int64_t step) const;

  /// Plateau only: told after each look at the validation rows whether the monitored metric gained.
  void epoch_ended(bool gained);

  // The state that a checkpoint keeps.
  int64_t cuts = 0, epochs_without_gain = 0;
  double scale = 1;  // of every rate, after a loss that was no number

  /// The share of training.seconds that is gone: cosine and linear end with the time.
  double time_share = 0;

 private:
  double usual_rate(int64_t step) const;
  enum class Kind { Constant, Step, Cosine, Linear, Noam, Plateau };
  TrainingOptions options_;
  Kind kind_;
  int64_t steps_per_epoch_;
};

}  // namespace fovea
