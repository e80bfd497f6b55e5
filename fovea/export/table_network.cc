#include "fovea/models/table_network.h"
#include "fovea/base/text.h"
#include "fovea/export/exporters.h"
#include "fovea/export/transformer_layers.h"
#include "fovea/export/weights.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using kernels::TabularLoss;
using namespace onnx;

/// What the hidden layers see, and where the network looked.
struct LookedValues {
  Value hidden;   // [B, 1 or K, width]
  Value weights;  // [B, C]; empty without attention
};

LookedValues look_at_columns(const TableNetworkOptions& options, const Weights& parameters,
                             const Value& inputs, const Value& embedded, int64_t columns) {
  Value scores = inputs;
  for (const char* layer : {"score_rank", "score"})
    if (parameters.has(concat(layer, ".weight"))) scores = parameters.linear(layer, scores);
  scores = unsqueeze(scores, {1});  // [B, 1, C]
  Graph& graph = inputs.graph();
  if (parameters.has("score_scales"))
    scores = scores * parameters.value(graph, "score_scales") +
             parameters.value(graph, "score_biases");               // [B, K, C]
  const Value weights = normalise(options.normaliser, scores, {});  // [B, K, C]
  const Value seen = unsqueeze(weights * double(columns), {3}) * unsqueeze(embedded, {1});
  return {reshape(seen, {0, 0, columns * options.width}),
          sum(weights, 1, false) / double(options.members)};
}

LookedValues class_token(const TableNetworkOptions& options, const Weights& parameters,
                         const Value& embedded) {
  Graph& graph = embedded.graph();
  const Value tokens = encode(parameters.under("encoder"), embedded, {}).output;  // [B, C, d]
  const Value shape =
      join({size_of(embedded, 0), graph.integers({1}), graph.integers({options.width})}, 0);
  const Value query =
      graph.node("Expand", {parameters.value(graph, "class_token"), shape});  // [B, 1, d]
  const MultiHead block(parameters, "class_attention");
  const AttendedValues looked = block.look(query, block.remember(tokens), {});
  LookedValues result{parameters.layer_norm("class_norm", query + looked.context), {}};
  if (block.heads() > 0)
    result.weights = squeeze(sum(looked.weights, 1, false), {1}) / double(block.heads());
  return result;
}

ExportedGraphs table_network_graphs(const TableNetwork& model, const ExportOptions& options) {
  const Weights parameters(model);
  const FeatureShape& shape = model.shape();
  const TableNetworkOptions& o = model.options();
  const auto columns = int64_t(shape.columns.size()), width = int64_t(shape.column_of_input.size());
  auto graph = std::make_unique<Graph>("table_network", "A column of a table from the others");
  const Value inputs =
      graph->input({"inputs", ElementType::Float, {"batch", width}, "the encoded cells of a row"});
  const Value plain =
      shape.plain_inputs.empty() ? inputs : select(inputs, 1, shape.plain_inputs);  // [B, P]
  Value result = unsqueeze(parameters.linear("linear", plain), {1});                // [B, 1, O]
  LookedValues looked;
  int64_t members = 1;
  if (!o.is_linear()) {
    members = o.members;
    const auto& embedding = parameters.module<ColumnEmbedding>("columns");
    const Value table = graph->constant(embedding.block_diagonal().detach().contiguous());
    const Value embedded = reshape(matmul(inputs, table), {0, columns, o.width}) +
                           parameters.value(*graph, "columns.bias");  // [B, C, d]
    looked = o.attends()          ? look_at_columns(o, parameters, inputs, embedded, columns)
             : o.is_transformer() ? class_token(o, parameters, embedded)
                                  : LookedValues{reshape(embedded, {0, 1, columns * o.width}), {}};
    Value h = looked.hidden;
    if (parameters.has("member_scales"))
      h = h * parameters.value(*graph, "member_scales");  // [B, K, width]
    for (int64_t layer = 0; parameters.has(concat("hidden.", layer, ".weight")); ++layer)
      h = relu(parameters.linear(concat("hidden.", layer), h));  // [B, K, H]
    const Value own = matmul(transpose(h, {1, 0, 2}), parameters.value(*graph, "output_weight")) +
                      parameters.value(*graph, "output_bias");  // [K, B, O]
    result = transpose(own, {1, 0, 2}) + result;                // [B, K, O]
  }
  const auto mean = [&](const Value& x) {  // over the members
    return members == 1 ? squeeze(x, {1}) : sum(x, 1, false) / double(members);
  };
  if (shape.loss == TabularLoss::SquaredError) {
    graph->output({"value", ElementType::Float, {"batch", 1}, "the prediction, encoded"},
                  mean(result));
  } else {
    const bool two = shape.loss == TabularLoss::BinaryCrossEntropy;
    output_probabilities(
        *graph,
        two ? join({mean(sigmoid(-result)), mean(sigmoid(result))}, 1) : mean(softmax(result)),
        two ? 2 : shape.outputs, options);
  }
  if (options.attention && looked.weights.defined())
    graph->output({"attention", ElementType::Float, {"batch", columns}, "weight of each column"},
                  looked.weights);
  return one_graph(std::move(graph));
}

}  // namespace

std::optional<ExportedGraphs> export_table_network(const Model& model,
                                                   const ExportOptions& options) {
  return export_as<TableNetwork>(model, options, table_network_graphs);
}

}  // namespace fovea
