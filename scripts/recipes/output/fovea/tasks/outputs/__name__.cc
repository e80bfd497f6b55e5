#include "fovea/tasks/outputs/__name__.h"

namespace fovea {

Json __Name__Output::answer(const Example& example, const Prediction& prediction) const {
  Json json = ClassesOutput::answer(example, prediction);
  json["sure"] = json["probability"].get<double>() >= threshold_;
  return json;
}

std::string __Name__Output::answer_line(const Example& example,
                                        const Prediction& prediction) const {
  const bool sure = answer(example, prediction)["sure"].get<bool>();
  return sure ? ClassesOutput::answer_line(example, prediction) : "unsure";
}

}  // namespace fovea
