// The encoder of BERT, Devlin et al. 2018:
//   x      norm(E[token] + P[position] + S[segment]), dropout
//   h      post-norm Transformer layers with GELU over x, every real token sees every other
//   pooled tanh(W h_1 + b), of the first token, [CLS]
// Its kin differ in a few places: RoBERTa (Liu 2019) counts positions from 2; DistilBERT (Sanh
// 2019) has no segments, and relu in place of tanh; ELECTRA (Clark 2020) has narrower tables, a
// layer that widens them, and gelu in place of tanh. Sizes by name, Turc et al. 2019: tiny 2 x 128,
// mini 4 x 256, small 4 x 512, medium 8 x 512, base 12 x 768, each with heads of 64 and a
// feed-forward network of 4 times the width.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/embedding.h>

#include <memory>
#include <optional>
#include <string>

#include "fovea/base/options.h"
#include "fovea/nn/ops/layer_norm.h"
#include "fovea/nn/transformer/positions.h"
#include "fovea/nn/transformer/transformer_stack.h"

namespace fovea {

struct BertOptions {
  std::string size = "tiny";
  int64_t layers = 0, hidden = 0, heads = 0, feed_forward = 0;  // 0: as `size` says
  int64_t maximum_length = 512;
  int64_t segments = 2;                    // 0: none
  int64_t first_position = 0;              // of the first token, in the table of positions
  int64_t embedding = 0;                   // width of the tables; 0: hidden
  std::string pooler_activation = "tanh";  // tanh, relu or gelu
  double dropout = 0.1;
  double attention_dropout = 0.1;
  double epsilon = 1e-12;
  std::string pruned_heads;  // attention/pruned_heads.h; the map is "attention"
  void describe(OptionList& list);
  /// With every 0 filled in.
  BertOptions whole() const;
};

struct BertInput {
  at::Tensor tokens;                // int64 [B, N]
  at::Tensor segments;              // int64 [B, N], or undefined: all 0
  at::Tensor keep;                  // bool [B, N], false at padding
  at::Tensor words = at::Tensor();  // [B, N, D]: embedded tokens, where the caller has them already
};

class BertEncoder : public torch::nn::Module {
 public:
  BertEncoder(const BertOptions& options, int64_t vocabulary);
  /// N(0, 0.02) for matrices and tables, as BERT has it.
  void initialise(const Random& random);

  /// The tokens' rows of the table, as a live leaf of the tap. int64 [B, N] -> [B, N, D]
  at::Tensor embed(const at::Tensor& tokens, Tap* tap) const;
  /// -> [B, N, D]. Maps are called "attention", from axis "tokens" to itself.
  at::Tensor forward(const BertInput& input, const Random* random, Tap* tap) const;
  /// Of the first position: [B, N, D] -> [B, D].
  at::Tensor pooled(const at::Tensor& hidden) const;

  const BertOptions& options() const { return options_; }
  const at::Tensor& token_table() const { return tokens_->weight; }  // [V, D]
  int64_t layers() const { return encoder_->size(); }
  std::vector<HeadBlock> head_blocks() const { return encoder_->head_blocks(kMap); }

  static constexpr const char* kMap = "attention";  // what the maps are called

 private:
  BertOptions options_;
  torch::nn::Embedding tokens_, segments_{nullptr};  // segments_: where there are some
  std::shared_ptr<Positions> positions_;
  std::shared_ptr<LayerNorm> norm_;
  std::shared_ptr<Projection> widening_;  // where the tables are narrower
  std::shared_ptr<TransformerEncoder> encoder_;
  std::shared_ptr<Projection> pooler_;
};

/// Mean of the real positions. hidden [B, N, D], keep [B, N] -> [B, D]; 0 where there are none.
at::Tensor mean_of_real(const at::Tensor& hidden, const at::Tensor& keep);

}  // namespace fovea
