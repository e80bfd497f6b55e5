#include "fovea/export/transformer_layers.h"

#include "fovea/export/positions.h"
#include "fovea/nn/transformer/transformer_layer.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

const char* const kLayers = "layers.";

/// One sublayer f in its wrapping.
template <class Sublayer>
Value wrapped(const TransformerLayerOptions& options, const Weights& layer, const char* norm,
              const Value& x, const Sublayer& f) {
  if (options.norm == "post") return layer.norm(norm, x + f(x));
  return x + f(layer.norm(norm, x));
}

/// W2 act(W1 x + b1) + b2, or gated.
Value feed_forward(const TransformerLayerOptions& options, const Weights& layer, const Value& x) {
  const Value hidden = layer.linear("linear1", x);  // [B, N, F], or 2 F
  if (!options.gated) return layer.linear("linear2", activate(hidden, options.activation));
  const Values halves = split(hidden, 2, {options.feed_forward, options.feed_forward});
  return layer.linear("linear2", activate(halves[0], options.activation) * halves[1]);
}

Value last_norm(const Weights& stack, const Value& x) {
  return stack.has("norm.weight") ? stack.norm("norm", x) : x;  // pre-norm only
}

void add(AllWeights& all, size_t layer, const MultiHead& block, const AttendedValues& attended) {
  if (block.heads() > 0) all.push_back({int64_t(layer) + 1, block.heads(), attended.weights});
}

}  // namespace

std::vector<Weights> layers_of(const Weights& stack) {
  std::vector<Weights> layers;
  while (stack.has_module(concat(kLayers, layers.size())))
    layers.push_back(stack.under(concat(kLayers, layers.size())));
  return layers;
}

EncodedValues encode(const Weights& stack, Value x, const Value& keep) {
  const Value visible = keep.defined() ? among_themselves(keep) : Value();  // [B, 1, N, N]
  const std::vector<Weights> layers = layers_of(stack);
  EncodedValues encoded;
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto& options = stack.module<TransformerEncoderLayer>(concat(kLayers, i)).options();
    const MultiHead block(layers[i], "self_attn");
    x = wrapped(options, layers[i], "norm1", x, [&](const Value& inner) {
      SelfView view{{}, visible};
      view.window = options.window;
      const AttendedValues attended = block.look_at_itself(inner, view).attended;
      add(encoded.weights, i, block, attended);
      return attended.context;
    });
    x = wrapped(options, layers[i], "norm2", x,
                [&](const Value& inner) { return feed_forward(options, layers[i], inner); });
  }
  encoded.output = last_norm(stack, x);
  return encoded;
}

SteppedValues step(const Weights& stack, Value x, const Value& first,
                   const std::vector<DecoderMemory>& memories, const Value& keep) {
  const Value visible = unsqueeze(keep, {1, 2});  // [B, 1, 1, S]
  const std::vector<Weights> layers = layers_of(stack);
  SteppedValues stepped;
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto& options = stack.module<TransformerDecoderLayer>(concat(kLayers, i)).options();
    const MultiHead own(layers[i], "self_attn"), source(layers[i], "multihead_attn");
    DecoderMemory memory = memories[i];
    x = wrapped(options, layers[i], "norm1", x, [&](const Value& inner) {
      const SelfView view{memory.written, {}, first, options.window};
      const MultiHead::SelfAttended looked = own.look_at_itself(inner, view);
      memory.written = looked.memory;
      add(stepped.generated_weights, i, own, looked.attended);
      return looked.attended.context;
    });
    x = wrapped(options, layers[i], "norm2", x, [&](const Value& inner) {
      const AttendedValues attended = source.look(inner, memory.source, visible);
      add(stepped.source_weights, i, source, attended);
      return attended.context;
    });
    x = wrapped(options, layers[i], "norm3", x,
                [&](const Value& inner) { return feed_forward(options, layers[i], inner); });
    stepped.written.push_back(memory);
  }
  stepped.output = last_norm(stack, x);
  return stepped;
}

ContinuedValues go_on(const Weights& stack, Value x, const Value& first,
                      const std::vector<HeadMemory>& past) {
  const Value places = positions_of(x, first);         // [N]
  const Value keys = range(0, size_of(x, 1) + first);  // [K]
  const Value ahead = keys > unsqueeze(places, {1});   // [N, K]
  const Value visible = unsqueeze(~ahead, {0, 1});     // [1, 1, N, K]
  const std::vector<Weights> layers = layers_of(stack);
  ContinuedValues continued;
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto& options = stack.module<TransformerDecoderLayer>(concat(kLayers, i)).options();
    const MultiHead block(layers[i], "self_attn");
    x = wrapped(options, layers[i], "norm1", x, [&](const Value& inner) {
      const MultiHead::SelfAttended looked =
          block.look_at_itself(inner, {past[i], visible, first, options.window});
      continued.memories.push_back(looked.memory);
      add(continued.weights, i, block, looked.attended);
      return looked.attended.context;
    });
    x = wrapped(options, layers[i], "norm2", x,
                [&](const Value& inner) { return feed_forward(options, layers[i], inner); });
  }
  continued.output = last_norm(stack, x);
  return continued;
}

void put_out_weights(Graph& graph, const std::string& name, const AllWeights& weights,
                     const Dimension& queries, const Dimension& keys, const std::string& help) {
  for (const LayerWeights& one : weights)
    graph.output({concat(name, "_", one.layer),
                  ElementType::Float,
                  {"batch", one.heads, queries, keys},
                  concat("layer ", one.layer, ": ", help)},
                 one.weights);
}

}  // namespace fovea::onnx
