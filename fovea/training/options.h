// Everything that decides a training besides the data and the model. Zeros of epochs, steps,
// batch_size and evaluate_epochs stand for what suits the rows: plan.h decides it.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/options.h"

namespace fovea {

/// training.patience: a share of the budget.
constexpr int64_t kByBudget = -1;

struct TrainingOptions {
  int64_t epochs = 0;
  int64_t steps = 0;
  double seconds = 0;
  int64_t batch_size = 0;
  int64_t batch_tokens = 0;
  int64_t pool_batches = 0;
  int64_t micro_batches = 1;
  bool shuffle = true;
  std::string path = "auto";
  std::string precision = "float32";

  std::string optimiser = "adam";
  double learning_rate = 1e-3;
  double momentum = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999;
  double rho = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double clip_norm = 0;
  double clip_value = 0;

  std::string schedule = "constant";
  int64_t warmup_steps = 0;
  int64_t step_epochs = 5;
  double step_factor = 0.5;
  double minimum_rate = 0;
  int64_t model_width = 512;
  int64_t plateau_patience = 3;

  std::vector<std::string> monitor = {"loss"};
  std::string stop_rule = "both";
  int64_t evaluate_epochs = 0;
  int64_t evaluate_rows = 5000;
  int64_t patience = kByBudget;
  double minimum_gain = 0;
  double checkpoint_seconds = 10;
  int64_t average_epochs = 0;
  double ema = 0;

  // What suits the task, for the plan (plan.h); no options, since the plan is what a run keeps.
  int64_t usual_steps = 2000;  // up to some thousand rows
  int64_t fewest_epochs = 1, most_epochs = 500;
  int64_t largest_batch = 64;

  void describe(OptionList& list);
};

}  // namespace fovea
