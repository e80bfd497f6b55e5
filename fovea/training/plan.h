// How long a training lasts, decided by the number of rows where the options leave it open:
//   batch size   the power of two nearest below rows / 50, from 16 to what suits the task
//   steps        u (1 + rows / 10,000)^(1/3), u what suits the task
//   epochs       so many that the steps are reached, from 1 to what suits the task
// So 100 rows are seen hundreds of times, a million once or twice. Early stopping ends most
// trainings before.
#pragma once

#include <cstdint>
#include <functional>

#include "fovea/training/options.h"

namespace fovea {

struct TrainingPlan {
  TrainingOptions options;      // nothing is left open
  int64_t steps_per_epoch = 0;  // of the first; with training.batch_tokens others may differ
  int64_t steps = 0;            // of all epochs, at most
};

/// `count_steps` says how many steps an epoch has with a batch size. A plan's own options give the
/// same plan again.
TrainingPlan plan_training(TrainingOptions options, int64_t rows,
                           const std::function<int64_t(const TrainingOptions&)>& count_steps);

}  // namespace fovea
