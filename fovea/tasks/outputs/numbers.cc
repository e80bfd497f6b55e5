#include "fovea/tasks/outputs/numbers.h"

#include "fovea/base/error.h"
#include "fovea/metrics/regression.h"
#include "fovea/tasks/data_kind.h"
#include "fovea/tensor/torch.h"

namespace fovea {

Metrics number_metrics(const at::Tensor& values, const at::Tensor& target, double deviation) {
  Metrics metrics{{"loss", mean_squared_error(values, target)},
                  {"mae", mean_absolute_error(values, target) * deviation}};
  if (const auto r2 = r_squared(values, target)) metrics.push_back({"r2", *r2, true});
  return metrics;
}

Metrics NumberOutput::measure(const Model& model, const Dataset& rows, const RowProgress&) const {
  const at::Tensor values = model.predict(whole(rows).to(model.device())).values.squeeze(1).cpu();
  return number_metrics(values, rows.columns().at("target"), target_().deviation);
}

Json NumberOutput::answer(const Example&, const Prediction& prediction) const {
  const Target target = target_();
  return {{"value", prediction.values[0].item<double>() * target.deviation + target.mean}};
}

std::string NumberOutput::answer_line(const Example& example, const Prediction& prediction) const {
  return format_number(answer(example, prediction)["value"], 7);
}

std::string NumberOutput::headline(const Example& example, const Prediction& prediction) const {
  return target_().name + " = " + answer_line(example, prediction);
}

}  // namespace fovea
