// What Transformers with an encoder and a decoder share: training on given targets, searching for
// an output step by step, playing a found one again. How symbols become numbers, and numbers
// probabilities, is theirs.
// Writing keeps keys and values of what is written, so a step costs the same work for its one
// position however much there is already.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/models/sequence_model.h"
#include "fovea/nn/ops/cross_entropy.h"
#include "fovea/nn/transformer/transformer_stack.h"

namespace fovea {

struct EncoderDecoderSizes {
  int64_t hidden = 256;        // D
  int64_t layers = 3;          // of the encoder, and
  int64_t decoder_layers = 0;  // of the decoder; 0: as many
  int64_t feed_forward = 0;    // 0: 4 D
  bool tie_embeddings = true;  // the output matrix is the target's table
  std::string pruned_heads;    // attention/pruned_heads.h
  /// The first three of them.
  void describe_layers(OptionList& list);
  void fill_in_zeros();
};

class EncoderDecoder : public SequenceModel {
 public:
  /// InvalidArgument for numbers instead of symbols, and for a search that needs one alignment.
  EncoderDecoder(SearchOptions search, SequenceShape shape);
  const SequenceShape& shape() const { return shape_; }

  std::vector<HeadBlock> head_blocks() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each output symbol: [B, U]. Maps: "encoder" (source looks at source),
  /// "decoder" (target at what is written), "attention" (target at source), one a layer.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;
  std::pair<double, int64_t> negative_log_likelihood(const Batch& batch) const override;

 protected:
  /// Symbols as the stacks take them: [B, N] -> [B, N, D]; those of a target stand at first, ….
  virtual at::Tensor embed_source(const at::Tensor& symbols, const Random* random) const = 0;
  virtual at::Tensor embed_target(const at::Tensor& symbols, int64_t first,
                                  const Random* random) const = 0;
  /// What becomes of a stack's output: [..., D] -> [..., D].
  virtual at::Tensor after_encoder(const at::Tensor& x, const Random*) const { return x; }
  virtual at::Tensor after_decoder(const at::Tensor& x, const Random*) const { return x; }
  virtual OutputLayer output_layer() const = 0;
  virtual double label_smoothing() const = 0;
  virtual bool draws() const = 0;  // random numbers, in training

  /// The model registers its parameters in this order, with its own between and behind them: tables
  /// of `hidden` numbers, one for both sides where they share a vocabulary, then the rest.
  void register_tables(int64_t hidden);
  void register_layers(const TransformerLayerOptions& layer, const EncoderDecoderSizes& sizes);
  /// [V, D], the target's table where they are tied.
  const at::Tensor& output_matrix() const;
  /// Of the target's table, where it is one of its own, for summary().
  void summarise_target_table(std::vector<LayerSummary>& layers) const;

  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};
  at::Tensor output_weight_;  // [V, D], unless tied
  std::shared_ptr<TransformerEncoder> encoder_;
  std::shared_ptr<TransformerDecoder> decoder_;

 private:
  std::vector<TransformerMemory> encode(const Batch& batch, const Random* random, Tap* tap) const;
  at::Tensor decode(std::vector<TransformerMemory>& memories, const at::Tensor& target,
                    const Random* random, Tap* tap) const;  // [B, T, D]
  at::Tensor logits_of(const at::Tensor& x) const;          // [..., D] -> [..., V]
};

}  // namespace fovea
