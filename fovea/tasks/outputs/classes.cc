#include "fovea/tasks/outputs/classes.h"

#include "fovea/base/error.h"
#include "fovea/metrics/classification.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

ClassScores score_rows(const Model& model, const Dataset& rows, int64_t classes, int64_t units,
                       const RowProgress& progress) {
  const ClassScores all{torch::zeros({rows.size(), classes}),
                        torch::zeros({rows.size()}, torch::kLong)};
  over_rows(
      model, rows, units,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const at::Tensor places =
            torch::tensor(c10::ArrayRef<int64_t>(picked.data(), picked.size()));  // [B]
        at::Tensor(all.scores).index_copy_(0, places, model.predict(batch).scores.cpu());
        at::Tensor(all.target).index_copy_(0, places, batch.at("target").cpu());
      },
      progress);
  return all;
}

Metrics ClassesOutput::measure(const Model& model, const Dataset& rows,
                               const RowProgress& progress) const {
  const auto count = static_cast<int64_t>(classes().size());
  const auto [scores, target] = score_rows(model, rows, count, units_, progress);
  Metrics metrics{{"loss", log_loss(scores, target)},
                  {"accuracy", accuracy(scores, target), true},
                  {"macro_f1", macro_f1(predicted_classes(scores), target, count), true}};
  if (count == 2)
    if (const auto area = auc(scores.select(1, 1), target)) metrics.push_back({"auc", *area, true});
  add_truth(model, rows, metrics);
  return metrics;
}

void ClassesOutput::add_truth(const Model& model, const Dataset& rows, Metrics& metrics) const {
  if (!rows.has_truth()) return;
  for (const Truth& truth : truths_)
    if (const auto share = planted_truth(model, rows, truth.map))
      metrics.push_back({truth.metric, *share, true});
}

Json ClassesOutput::answer(const Example&, const Prediction& prediction) const {
  const std::string& best = classes()[size_t(prediction.scores.argmax().item<int64_t>())];
  Json scores = Json::object();
  for (size_t c = 0; c < classes().size(); ++c)
    scores[classes()[c]] = prediction.scores[int64_t(c)].item<double>();
  return {{"class", best}, {"probability", scores[best]}, {"scores", scores}};
}

std::string ClassesOutput::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["class"].get<std::string>(), "\t", format_number(json["probability"], 6));
}

std::string ClassesOutput::headline(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["class"].get<std::string>(), " (", format_number(json["probability"], 3), ")");
}

}  // namespace fovea
