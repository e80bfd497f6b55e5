#include "fovea/tasks/dates.h"

namespace fovea {

DatesTask::DatesTask() {
  pairs_.tokens = "characters";
  model_.hidden = 128;
  model_.embedding = 32;
  model_.score.name = "general";
}

void DatesTask::describe(OptionList& list) {
  struct Data {
    DatesOptions& dates;
    PairsOptions& pairs;
    void describe(OptionList& own) { dates.describe(own), pairs.describe(own); }
  } data{dates_, pairs_};
  list.group("data", data);
  list.group("model", model_);
  list.group("decoding", search_);
}

TrainingOptions DatesTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 4;
  options.batch_size = 64;
  options.pool_batches = 20;
  options.parts = 2;
  options.learning_rate = 5e-3;
  options.schedule = "cosine";
  options.warmup_steps = 100;
  options.clip_norm = 1;
  return options;
}

BuiltInPairs DatesTask::built_in() const {
  DatesDraw draw = draw_dates(dates_);
  return {std::move(draw.train), std::move(draw.validation), std::move(draw.test),
          std::move(draw.notes)};
}

Json DatesTask::built_in_options() const {
  OptionList list;
  DatesOptions options = dates_;
  options.describe(list);
  return list.to_json();
}

}  // namespace fovea
