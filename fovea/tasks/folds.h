// Cross-validation: the training rows are cut into K folds, each is the validation split of one
// training, and every row is judged once by a model that has not seen it. The model that is kept is
// trained on all rows, for as many steps as the folds' best weights took (their median).
#pragma once

#include <functional>

#include "fovea/metrics/statistics.h"
#include "fovea/tasks/train.h"

namespace fovea {

struct FoldsRequest {
  std::function<Setup()> make_setup;
  int64_t folds = 5;
  std::function<bool()> should_stop;  // may be empty
  StageProgress stage;                // of each fold's training; may be empty
  /// After each: its number from 1, and its training. May be empty.
  std::function<void(int64_t fold, const Training&)> fold_ended;
};

struct FoldsResult {
  std::vector<Metrics> metrics;     // of each fold's validation rows
  std::vector<int64_t> best_steps;  // optimiser steps of each fold's best weights
  int64_t batch_size = 0;           // of the trainings

  int64_t folds() const { return int64_t(metrics.size()); }
  int64_t median_steps() const;
  /// Of one metric over the folds that have it.
  Summary summary(const std::string& metric) const;
  Json to_json() const;
};

/// Trains K models in memory. InvalidArgument or Unsupported where rows cannot be cut into folds.
FoldsResult cross_validate(const FoldsRequest& request);

/// Makes the setup one of the final model: all rows, the folds' steps, no early stopping.
void use_all_folds(Setup& setup, const FoldsResult& result);

}  // namespace fovea
