// nn/transformer/transformer_layer.h and nn/transformer/transformer_stack.h as nodes. Norm,
// activation and window are read from each layer, heads from its blocks.
#pragma once

#include "fovea/export/multi_head.h"

namespace fovea::onnx {

/// How the layers of a stack looked, from the first to the last; a layer that has no heads is left
/// out.
struct LayerWeights {
  int64_t layer = 0;  // from 1
  int64_t heads = 0;
  Value weights;  // [B, H, Q, K]
};
using AllWeights = std::vector<LayerWeights>;

struct EncodedValues {
  Value output;  // [B, N, D]
  AllWeights weights;
};

/// An encoder whose parameters are `stack`. x [B, N, D]; keep bool [B, N], false at padding, which
/// nobody looks at and which looks at nothing; empty: there is none.
EncodedValues encode(const Weights& stack, Value x, const Value& keep);

/// What one layer of a decoder looks at.
struct DecoderMemory {
  HeadMemory written;  // its own past; empty for a block without heads
  HeadMemory source;   // likewise
};

struct SteppedValues {
  Value output;                        // [B, 1, D]
  std::vector<DecoderMemory> written;  // of each layer, grown by this position
  AllWeights generated_weights, source_weights;
};

/// One position of a decoder. x [B, 1, D], which stands at position `first`, int64 [1]; keep bool
/// [B, S], of the source
SteppedValues step(const Weights& stack, Value x, const Value& first,
                   const std::vector<DecoderMemory>& memories, const Value& keep);

struct ContinuedValues {
  Value output;                      // [B, N, D]
  std::vector<HeadMemory> memories;  // of each layer, grown by these positions; empty without heads
  AllWeights weights;
};

/// Several positions of a decoder that looks at no source. x [B, N, D] stands at the positions from
/// `first` on, int64 [1], behind what each layer's `past` holds.
ContinuedValues go_on(const Weights& stack, Value x, const Value& first,
                      const std::vector<HeadMemory>& past);

/// The layers of a stack, one after the other.
std::vector<Weights> layers_of(const Weights& stack);

/// The weights of each layer under the names name_1, name_2, …; of [batch, heads, queries, keys].
void put_out_weights(Graph& graph, const std::string& name, const AllWeights& weights,
                     const Dimension& queries, const Dimension& keys, const std::string& help);

}  // namespace fovea::onnx
