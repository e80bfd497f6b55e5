// What a training would do, without doing it: `fovea train --dry-run`. Nothing is written.
#pragma once

#include "fovea/tasks/train.h"

namespace fovea {

struct TrainingPreview {
  Splits splits;
  std::vector<LayerSummary> layers;
  int64_t parameters = 0;
  TrainingPlan plan;
  std::vector<std::string> classes;   // empty: the target is no class
  std::vector<int64_t> class_counts;  // in the training rows
  bool fused = false;                 // training.path
  bool fitted = false;                // without steps
  bool refits = false;                // afterwards on all rows (refit.h)
  double step_seconds = 0;            // of one, measured
  double fit_seconds = 0;             // where it is fitted
  double choice_seconds = 0;          // of choosing the model, at most
  double evaluation_seconds = 0;      // of one look at the validation rows
  int64_t memory = 0;                 // bytes of this process at its peak

  /// Of all steps and looks: at most, since early stopping may end it before.
  double training_seconds() const;
  /// Of the choice as well, and no more than the time that is given.
  double seconds() const;
  Json to_json(const Setup& setup) const;
};

/// Loads the data, makes the model and trains it for about a second, in memory.
TrainingPreview preview_training(Setup& setup);

}  // namespace fovea
