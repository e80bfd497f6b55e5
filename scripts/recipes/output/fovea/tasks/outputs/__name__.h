// One of several classes, or none of them where the likeliest is not likely enough:
// {"class": …, "probability": …, "scores": …, "sure": true}.
#pragma once

#include "fovea/tasks/outputs/classes.h"

namespace fovea {

class __Name__Output : public ClassesOutput {
 public:
  __Name__Output(Classes classes, double threshold)
      : ClassesOutput(std::move(classes)), threshold_(threshold) {}
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;

 private:
  double threshold_;
};

}  // namespace fovea
