// What a training would do, without doing it: `fovea train --dry-run`. Nothing is written.
#pragma once

#include "fovea/tasks/train.h"

namespace fovea {

struct TrainingPreview {
  Training training;                  // planned, not done
  std::vector<std::string> classes;   // empty: the target is no class
  std::vector<int64_t> class_counts;  // in the training rows
  int64_t memory = 0;                 // bytes of this process at its peak

  /// Of the choice and all steps and looks, and no more than the time that is given: at most, since
  /// early stopping may end it before.
  double seconds() const;
  Json to_json(const Setup& setup) const;
};

/// Loads the data, makes the model and trains it for about a second, in memory.
TrainingPreview preview_training(Setup& setup);

}  // namespace fovea
