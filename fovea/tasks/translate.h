// The task `translate`: a sentence becomes a sentence in another language.
#pragma once

#include "fovea/data/pairs/synthetic_phrases.h"
#include "fovea/tasks/pairs_task.h"

namespace fovea {

class TranslateTask : public PairsTask {
 public:
  TranslateTask();
  void describe(OptionList& list) override;
  TrainingOptions training_defaults() const override;

 protected:
  std::string name() const override { return "translate"; }
  SplitRows<TextPair> built_in() const override;
  Json built_in_options() const override;
  bool is_translation() const override { return true; }

 private:
  PhrasesOptions phrases_;
};

}  // namespace fovea
