// How long a training takes at most, told from a moment of its parts: a few steps and a look at
// some validation rows, times those of the plan (training/plan.h).
#pragma once

#include "fovea/base/progress.h"
#include "fovea/tasks/setup.h"
#include "fovea/training/plan.h"

namespace fovea {

/// Seconds.
struct TrainingTime {
  double choice = 0;      // of choosing the model (choose_model.h)
  double longest = 0;     // of the training after the choice, of the slowest candidate
  double step = 0;        // of one; 0: not measured
  double evaluation = 0;  // of one look at the validation rows
  double fit = 0;         // of weights that are found without steps
  double spent = 0;       // until the first step, of training.seconds
};

/// Of the setup's network as it would be trained on these rows, by trying `seconds` of steps. What
/// was tried is thrown away.
TrainingTime time_network(const Setup& setup, const Splits& splits, double seconds);

/// All steps of a plan, and all looks at the validation rows.
double planned_seconds(const TrainingPlan& plan, const TrainingTime& time);
/// A training, and the same again on the rows of all splits but the test's (refit.h).
double with_refit(double seconds, const Splits& splits);
/// Rows that all steps of a plan see.
int64_t planned_rows(const TrainingPlan& plan, int64_t rows);
/// For TrainerHooks::progress, of a training that sees `total` rows; empty where nobody is told.
std::function<void(int64_t rows, double loss)> training_progress(const StageProgress& progress,
                                                                 const Stage& stage, int64_t total);

/// The setup's network as every training begins, but for pretrained weights.
std::unique_ptr<Model> fresh_model(const Setup& setup);

}  // namespace fovea
