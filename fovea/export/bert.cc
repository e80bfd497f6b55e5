#include "fovea/export/bert.h"

#include "fovea/base/text.h"
#include "fovea/export/positions.h"
#include "fovea/nn/transformer/bert_encoder.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

const BertOptions& encoder_options(const Weights& model) {
  return model.module<BertEncoder>("encoder").options();
}

}  // namespace

BertValues run_bert(Graph& graph, const Weights& model, bool segments, int64_t window) {
  const Weights encoder = model.under("encoder");
  const BertOptions& o = encoder_options(model);
  const Shape by_token{"batch", "length"};
  BertValues bert;
  bert.tokens = graph.input({"tokens", ElementType::Int64, by_token, "numbers of pieces"});
  bert.keep = graph.input({"keep", ElementType::Bool, by_token, "false where there is padding"});
  Value x = rows_of(encoder.value(graph, "tokens.weight"), bert.tokens);  // [B, N, E]
  const Value first = o.first_position > 0 ? graph.integers({o.first_position}) : Value();
  x = add_learned(x, positions_of(x, first), encoder.value(graph, "positions.weight"));
  if (o.segments > 0) {
    const Value table = encoder.value(graph, "segments.weight");  // [2, E]
    x = x + (segments ? rows_of(table, graph.input({"segments", ElementType::Int64, by_token,
                                                    "0 in the first text, 1 in the second"}))
                      : pick(table, 0, 0));
  }
  x = encoder.layer_norm("norm", x);
  if (encoder.has("widening.weight")) x = encoder.linear("widening", x);  // [B, N, D]
  const EncodedValues encoded = encode(encoder.under("encoder"), x, bert.keep);
  bert.hidden = encoded.output;
  bert.weights = encoded.weights;
  graph.note("fovea.window", concat(window));
  return bert;
}

Value pooled(const Weights& model, const Value& hidden) {
  const Value first = model.under("encoder").linear("pooler", pick(hidden, 1, 0));
  const std::string& name = encoder_options(model).pooler_activation;
  return name == "relu" ? relu(first) : name == "gelu" ? gelu(first) : tanh(first);
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
