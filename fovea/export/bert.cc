#include "fovea/export/bert.h"

#include "fovea/base/text.h"
#include "fovea/export/positions.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

BertValues run_bert(Graph& graph, const Weights& encoder, bool segments, int64_t window) {
  const Shape by_token{"batch", "length"};
  BertValues bert;
  bert.tokens = graph.input({"tokens", ElementType::Int64, by_token, "numbers of pieces"});
  bert.keep = graph.input({"keep", ElementType::Bool, by_token, "false where there is padding"});
  const Value table = encoder.value(graph, "segments.weight");  // [2, D]
  const Value segment = segments
                            ? rows_of(table, graph.input({"segments", ElementType::Int64, by_token,
                                                          "0 in the first text, 1 in the second"}))
                            : pick(table, 0, 0);
  Value x = rows_of(encoder.value(graph, "tokens.weight"), bert.tokens);  // [B, N, D]
  x = add_learned(x, positions_of(x), encoder.value(graph, "positions.weight")) + segment;
  const EncodedValues encoded =
      encode(encoder.under("encoder"), encoder.layer_norm("norm", x), bert.keep);
  bert.hidden = encoded.output;
  bert.weights = encoded.weights;
  graph.note("fovea.window", concat(window));
  return bert;
}

Value pooled(const Weights& encoder, const Value& hidden) {
  return tanh(encoder.linear("pooler", pick(hidden, 1, 0)));
}

Value mean_of_real(const BertValues& bert) {
  const Value weight = unsqueeze(cast(bert.keep, ElementType::Float), {2});  // [B, N, 1]
  const Value count = maximum(sum(weight, 1, false), weight.graph().number(1));
  return sum(bert.hidden * weight, 1, false) / count;
}

void put_out_attention(Graph& graph, const BertValues& bert) {
  put_out_weights(graph, "attention", bert.weights, "length", "length",
                  "how much each token looked at each");
}

}  // namespace fovea::onnx
