#include "fovea/models/series_linear.h"
#include "fovea/export/exporters.h"
#include "fovea/export/series.h"
#include "fovea/tensor/torch.h"

namespace fovea {

static ExportedGraphs series_linear_graphs(const SeriesLinear& model, const ExportOptions&) {
  using namespace onnx;
  torch::NoGradGuard no_gradients;
  auto graph = std::make_unique<Graph>("series_linear", "The next steps of series from the last");
  const int64_t T = model.shape().horizon;
  const at::Tensor map = model.whole_map().transpose(1, 2).contiguous();  // [G, C S, T M]
  const Value weight = graph->constant(map);
  const Value bias = graph->constant(model.bias().unsqueeze(1).contiguous());  // [G, 1, T M]
  put_out_series(*graph, Weights(model), model, [&](const Value& z) {
    const Value rows = reshape(z, {-1, map.size(0), 1, map.size(1)});  // [B, G, 1, C S]
    return reshape(matmul(rows, weight) + bias, {-1, T, map.size(2) / T});
  });
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_series_linear(const Model& model,
                                                   const ExportOptions& options) {
  return export_as<SeriesLinear>(model, options, series_linear_graphs);
}

}  // namespace fovea
