#include "fovea/tasks/dates.h"

namespace fovea {

DatesTask::DatesTask() {
  pairs_.tokens = "characters";
  model_.hidden = 128;
  model_.embedding = 32;
  model_.score.name = "general";
  transformer_.hidden = 128;
  transformer_.layers = 2;
  transformer_.heads = 4;
  transformer_.feed_forward = 256;
  transformer_.dropout = transformer_.attention_dropout = 0;
  transformer_.label_smoothing = 0;
}

void DatesTask::describe(OptionList& list) {
  describe_with(dates_, list);
}

TrainingOptions DatesTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 4;
  options.batch_size = 64;
  options.pool_batches = 20;
  options.micro_batches = 2;
  options.learning_rate = 5e-3;
  options.schedule = "cosine";
  options.warmup_steps = 100;
  options.clip_norm = 1;
  if (is_transformer()) {
    options.epochs = 6;
    options.learning_rate = 2e-3;
  }
  return options;
}

SplitRows<TextPair> DatesTask::built_in() const {
  return draw_dates(dates_);
}

Json DatesTask::built_in_options() const {
  return options_json(dates_);
}

}  // namespace fovea
