#include "fovea/tasks/translate.h"

namespace fovea {

TranslateTask::TranslateTask() {
  pairs_.tokens = "unigram";
  pairs_.vocabulary_size = 8000;
  pairs_.maximum_length = 100;
  model_.hidden = 256;
  model_.embedding = 128;
  model_.dropout = 0.2;
  model_.score.name = "general";
}

void TranslateTask::describe(OptionList& list) {
  describe_with(phrases_, list);
}

TrainingOptions TranslateTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 10;
  options.batch_size = 64;
  options.pool_batches = 50;
  options.micro_batches = 2;
  options.learning_rate = 1e-3;
  options.schedule = "cosine";
  options.warmup_steps = 200;
  options.clip_norm = 1;
  options.monitor = {"bleu"};
  if (is_transformer()) {
    options.warmup_steps = 1000;
    options.beta2 = 0.98;
    options.epsilon = 1e-9;
  }
  return options;
}

SplitRows<TextPair> TranslateTask::built_in() const {
  return draw_phrases(phrases_);
}

Json TranslateTask::built_in_options() const {
  return options_json(phrases_);
}

}  // namespace fovea
