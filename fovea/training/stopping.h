// Which epoch is the best so far, and whether training stops: training.monitor, patience, stop_rule
// and minimum_gain.
#pragma once

#include "fovea/training/checkpoint.h"
#include "fovea/training/options.h"
#include "fovea/training/report.h"

namespace fovea {

/// Notes the metrics of an epoch, those of training where there are none of validation, in
/// `state.monitors` and `state.best_epoch`. True: time to stop.
bool note_gains(const TrainingOptions& options, const EpochReport& report, TrainerState& state);

}  // namespace fovea
