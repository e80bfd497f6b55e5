// The Transformer, Vaswani et al. 2017: an encoder that looks at itself, a decoder that looks at
// what it has written and at the source; no recurrence.
//   x        sqrt(D) E[symbol] + position, dropout
//   encoder  layers of nn/transformer/transformer_layer.h, each source position sees all
//   decoder  the same, each position sees those before it, then the source
//   output   p(y_t) = softmax(W x_t + b), W the target's embedding when tied
//   loss     mean over the real target positions of -log p(y_t), with label smoothing
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <optional>

#include "fovea/base/options.h"
#include "fovea/models/encoder_decoder.h"
#include "fovea/nn/transformer/positions.h"

namespace fovea {

struct TransformerOptions : EncoderDecoderSizes {
  std::string name = "transformer";
  int64_t heads = 8;
  int64_t key_heads = 0;  // 0: as many
  std::string norm = "pre";
  std::string activation = "relu";
  std::string positions = "sinusoidal";
  int64_t maximum_length = 512;  // learned positions
  int64_t window = 0;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  double label_smoothing = 0.1;
  void describe(OptionList& list);
};

class Transformer : public EncoderDecoder {
 public:
  Transformer(TransformerOptions options, SearchOptions search, SequenceShape shape);
  const TransformerOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;
  bool supports_cuda_graph() const override { return options_.positions != "alibi"; }

 private:
  at::Tensor embed_source(const at::Tensor& symbols, const Random* random) const override;
  at::Tensor embed_target(const at::Tensor& symbols, int64_t first,
                          const Random* random) const override;
  OutputLayer output_layer() const override;
  double label_smoothing() const override { return options_.label_smoothing; }
  bool draws() const override { return options_.dropout > 0 || options_.attention_dropout > 0; }
  /// symbols [B, N] at the positions first … -> [B, N, D]
  at::Tensor embed(const torch::nn::Embedding& table, const Positions& positions,
                   const at::Tensor& symbols, int64_t first, const Random* random) const;

  TransformerOptions options_;
  std::shared_ptr<Positions> source_positions_, target_positions_;
  at::Tensor output_bias_;  // [V]
};

}  // namespace fovea
