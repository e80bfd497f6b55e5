#include "fovea/models/series_patches.h"
#include "fovea/export/exporters.h"
#include "fovea/export/series.h"
#include "fovea/export/transformer_layers.h"
#include "fovea/tensor/torch.h"

namespace fovea {

static ExportedGraphs series_patches_graphs(const SeriesPatches& model,
                                            const ExportOptions& options) {
  using namespace onnx;
  auto graph = std::make_unique<Graph>("series_patches", "The next steps of series from the last");
  const Weights parameters(model);
  const int64_t T = model.shape().horizon, P = model.places().count(), D = model.options().hidden;
  const int64_t rows = model.is_independent() ? int64_t(model.shape().targets.size()) : 1;
  const int64_t inputs = model.is_independent() ? 1 : model.shape().inputs;
  const int64_t outputs = parameters.tensor("output_bias").size(1);
  std::vector<int64_t> steps;
  for (const auto& patch : model.places().steps)
    steps.insert(steps.end(), patch.begin(), patch.end());
  Value weights;
  put_out_series(*graph, parameters, model, [&](const Value& z) {
    const int64_t length = model.places().length;
    Value patches = reshape(select(z, 2, steps), {-1, inputs, P, length});          // [N, C, P, L]
    patches = reshape(transpose(patches, {0, 2, 1, 3}), {-1, P, inputs * length});  // [N, P, C L]
    const Value e = parameters.linear("embed", patches) +
                    parameters.value(*graph, "positions.weight");  // [N, P, D]
    const Value h = e + encode(parameters.under("encoder"), e, {}).output;
    const Value keys = transpose(parameters.linear("key", h), {0, 2, 1});  // [N, D, P]
    weights = softmax(matmul(parameters.value(*graph, "query") / std::sqrt(double(D)), keys));
    const Value parts = reshape(matmul(transpose(h, {1, 0, 2}), parameters.value(*graph, "output")),
                                {P, -1, T, outputs});
    const Value shares = unsqueeze(transpose(weights, {2, 0, 1}), {3}) * double(P);  // [P, N, T, 1]
    return sum(parts * shares, 0, false) + parameters.value(*graph, "output_bias");  // [N, T, M]
  });
  if (options.attention)
    graph->output({"attention",
                   ElementType::Float,
                   {"batch", rows, T, P},
                   "how much each output step looked at each patch, by target"},
                  reshape(weights, {-1, rows, T, P}));
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_series_patches(const Model& model,
                                                    const ExportOptions& options) {
  return export_as<SeriesPatches>(model, options, series_patches_graphs);
}

}  // namespace fovea
