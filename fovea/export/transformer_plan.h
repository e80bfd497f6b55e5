// What the two graphs of a Transformer agree on, beside sequence.h. The encoder makes the keys and
// values that each layer of the decoder looks at in the source; what a layer knows of its own past
// grows from step to step by one position, so a step costs the same work however much is written.
#pragma once

#include <memory>
#include <vector>

#include "fovea/export/sequence.h"
#include "fovea/export/transformer_layers.h"
#include "fovea/models/transformer.h"

namespace fovea {

/// Keys and values of one block; none when all its heads were taken out.
struct MemoryPorts {
  MemoryPorts(const std::string& name, int64_t layer, const onnx::MultiHead& block,
              const char* length, const std::string& help);

  int64_t heads = 0, head_size = 0;  // of the keys
  onnx::Port keys, values;
  bool exist() const { return heads > 0; }
};

struct TransformerPlan {
  explicit TransformerPlan(const Transformer& model);

  /// sqrt(D) E[symbol] + position, by the tables of `side`, "source" or "target". symbols [B, N],
  /// positions int64 [N] -> [B, N, D]
  onnx::Value embed(const std::string& side, const onnx::Value& symbols,
                    const onnx::Value& positions) const;

  TransformerOptions options;
  SequenceShape shape;
  onnx::Weights weights;

  struct Layer {
    MemoryPorts source, written;
  };
  std::vector<Layer> layers;  // of the decoder
};

std::unique_ptr<onnx::Graph> transformer_encoder(const TransformerPlan& plan, bool with_attention);
std::unique_ptr<onnx::Graph> transformer_decoder(const TransformerPlan& plan, bool with_attention);

}  // namespace fovea
