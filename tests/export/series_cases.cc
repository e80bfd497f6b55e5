#include "fovea/models/series_linear.h"
#include "fovea/models/series_patches.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"

namespace fovea::testing {

namespace {

constexpr int64_t kWindow = 12, kHorizon = 4;

template <class Kind, class Options>
ExportCase series_case(const std::string& name, const Options& options, const SeriesShape& shape) {
  const auto model = std::make_shared<Kind>(options, shape);
  randomise(*model, 21);
  const auto answers = [model, shape](int64_t rows, int64_t) -> Json {
    torch::NoGradGuard no_gradients;
    const Random random(uint64_t(rows) + 60);
    Batch batch;
    batch.size = rows;
    batch.tensors["source"] =
        random.split("source").normal_tensor({rows, shape.window, shape.inputs}, 2, 3, at::kFloat);
    Json inputs{{"source", tensor_json(batch.at("source"))}};
    if (shape.known > 0) {
      batch.tensors["known"] = random.split("known").normal_tensor(
          {rows, shape.window + shape.horizon, shape.known}, 0, 1, at::kFloat);
      inputs["known"] = tensor_json(batch.at("known"));
    }
    const at::Tensor values = model->predict(batch).values;
    const auto targets = int64_t(shape.targets.size());
    const int64_t numbers = shape.horizon * targets;
    Json outputs{
        {"value",
         tensor_json(values.narrow(1, 0, numbers).reshape({rows, shape.horizon, targets}))}};
    if (values.size(1) > numbers)
      outputs["quantiles"] = tensor_json(values.narrow(1, numbers, values.size(1) - numbers)
                                             .reshape({rows, shape.horizon, targets, -1}));
    Tap tap;
    model->replay(batch, {}, &tap);
    if (tap.maps().back().name == "attention")
      outputs["attention"] = tensor_json(tap.map("attention").weights);
    return {{"inputs", inputs}, {"outputs", outputs}};
  };
  return {"series-" + name,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

}  // namespace

std::vector<ExportCase> series_cases() {
  const SeriesShape own{kWindow, kHorizon, 2, {0, 1}, 0};
  const SeriesShape known{kWindow, kHorizon, 3, {2}, 2};
  const SeriesShape foreign{kWindow, kHorizon, 2, {1, -1}, 1};
  SeriesLinearOptions linear, each, intervals;
  each.shared = false;
  intervals.series.quantiles = {"0.1", "0.5", "0.9"};
  SeriesPatchesOptions patches;
  patches.hidden = 8, patches.heads = 2, patches.layers = 1, patches.patch_length = 4;
  SeriesPatchesOptions quantiles = patches;
  quantiles.series.quantiles = {"0.2", "0.8"};
  return {series_case<SeriesLinear>("linear", linear, own),
          series_case<SeriesLinear>("linear-each", each, own),
          series_case<SeriesLinear>("linear-known", intervals, known),
          series_case<SeriesLinear>("linear-mixed", intervals, foreign),
          series_case<SeriesPatches>("patches", patches, own),
          series_case<SeriesPatches>("patches-known", quantiles, known),
          series_case<SeriesPatches>("patches-mixed", patches, foreign)};
}

}  // namespace fovea::testing
