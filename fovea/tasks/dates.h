// The task `dates`: a date as people write it becomes yyyy-mm-dd.
#pragma once

#include "fovea/data/pairs/synthetic_dates.h"
#include "fovea/tasks/pairs_task.h"

namespace fovea {

class DatesTask : public PairsTask {
 public:
  DatesTask();
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;

 protected:
  std::string name() const override { return "dates"; }
  SplitRows<TextPair> built_in() const override;
  Json built_in_options() const override;
  bool is_translation() const override { return false; }

 private:
  DatesOptions dates_;
};

}  // namespace fovea
