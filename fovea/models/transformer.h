// The Transformer, Vaswani et al. 2017: an encoder that looks at itself, a decoder that looks at
// what it has written and at the source; no recurrence.
//   x        sqrt(D) E[symbol] + position, dropout
//   encoder  layers of nn/transformer/transformer_layer.h, each source position sees all
//   decoder  the same, each position sees those before it, then the source
//   output   p(y_t) = softmax(W x_t + b), W the target's embedding when tied
//   loss     mean over the real target positions of -log p(y_t), with label smoothing
// Writing keeps keys and values of what is written, so a step costs the same work for its one
// position however much there is already.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <optional>

#include "fovea/base/options.h"
#include "fovea/models/sequence_model.h"
#include "fovea/nn/ops/cross_entropy.h"
#include "fovea/nn/transformer/positions.h"
#include "fovea/nn/transformer/transformer_stack.h"

namespace fovea {

struct TransformerOptions {
  std::string name = "transformer";
  int64_t hidden = 256;        // D
  int64_t layers = 3;          // of the encoder, and
  int64_t decoder_layers = 0;  // of the decoder; 0: as many
  int64_t heads = 8;
  int64_t key_heads = 0;     // 0: as many
  int64_t feed_forward = 0;  // 0: 4 D
  std::string norm = "pre";
  std::string activation = "relu";
  std::string positions = "sinusoidal";
  int64_t maximum_length = 512;  // learned positions
  int64_t window = 0;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  bool tie_embeddings = true;
  double label_smoothing = 0.1;
  std::string pruned_heads;  // attention/pruned_heads.h
  void describe(OptionList& list);
};

class Transformer : public SequenceModel {
 public:
  Transformer(TransformerOptions options, SearchOptions search, SequenceShape shape);
  const TransformerOptions& options() const { return options_; }
  const SequenceShape& shape() const { return shape_; }

  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;
  std::vector<HeadBlock> head_blocks() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  bool supports_cuda_graph() const override { return options_.positions != "alibi"; }
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each output symbol: [B, U]. Maps: "encoder" (source looks at source),
  /// "decoder" (target at what is written), "attention" (target at source), one a layer.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;
  std::pair<double, int64_t> negative_log_likelihood(const Batch& batch) const override;

 private:
  /// symbols [B, N] at the positions first … -> [B, N, D]
  at::Tensor embed(const torch::nn::Embedding& table, const Positions& positions,
                   const at::Tensor& symbols, int64_t first, const Random* random) const;
  std::vector<TransformerMemory> encode(const Batch& batch, const Random* random, Tap* tap) const;
  at::Tensor decode(std::vector<TransformerMemory>& memories, const at::Tensor& target,
                    const Random* random, Tap* tap) const;  // [B, T, D]
  OutputLayer output_layer() const;
  at::Tensor output_of(const at::Tensor& x) const;  // [..., D] -> [..., V]

  TransformerOptions options_;
  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};
  std::shared_ptr<Positions> source_positions_, target_positions_;
  std::shared_ptr<TransformerEncoder> encoder_;
  std::shared_ptr<TransformerDecoder> decoder_;
  at::Tensor output_weight_;  // [V, D], unless tied
  at::Tensor output_bias_;    // [V]
};

}  // namespace fovea
