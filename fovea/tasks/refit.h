// Few rows: those that were held out to judge the model are worth training on. Once it is judged,
// the run's weights are learned again from all rows, for as many epochs as were best, as
// scikit-learn's `refit` does. The weights that were judged stay beside them, in
// held_out.safetensors: `evaluate` measures the run's own validation rows with those.
#pragma once

#include "fovea/tasks/train.h"

namespace fovea {

/// Trains `training.model` anew on the training and the validation rows and writes it to the run.
void refit_on_all_rows(const Setup& setup, Training& training, const RunFolder& folder,
                       const TrainRequest& request);

/// Before a refitted run is resumed: the weights that were judged are those to go on with.
void undo_refit(const RunFolder& folder);

/// Whether the run keeps weights that have not seen its validation rows.
bool has_held_out_weights(const RunFolder& folder);

}  // namespace fovea
