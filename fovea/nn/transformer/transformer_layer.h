// The two layers of a Transformer, Vaswani et al. 2017, with the parameter names of
// torch.nn.TransformerEncoderLayer and TransformerDecoderLayer (self_attn, multihead_attn, linear1,
// linear2, norm1, norm2, norm3), so that their state dicts fit. Each sublayer f is wrapped:
//   post  x = norm(x + dropout(f(x)))                 the paper's
//   pre   x = x + dropout(f(norm(x)))                 steadier to train; the stack ends with a norm
// f is attention of the sequence to itself, in a decoder then to the source (unless it has none, as
// in GPT-2 and Llama), and last the feed-forward network W2 dropout(act(W1 x + b1)) + b2; a gated
// one has W1 of twice the rows and multiplies act of the first half with the second (Shazeer 2020).
#pragma once

#include <memory>
#include <string>

#include "fovea/attention/multi_head.h"
#include "fovea/nn/ops/activation.h"
#include "fovea/nn/ops/norm.h"
#include "fovea/nn/transformer/relative_positions.h"

namespace fovea {

struct TransformerLayerOptions {
  int64_t width = 256;
  int64_t heads = 4;
  int64_t key_heads = 0;  // 0: as many as heads
  int64_t head_size = 0;  // 0: width / heads
  int64_t feed_forward = 1024;
  std::string norm = "post";        // post or pre
  std::string norm_name = "layer";  // layer or rms
  std::string activation = "relu";  // relu, gelu, gelu-tanh or silu
  bool gated = false;               // the feed-forward network
  bool bias = true;                 // of queries, keys and values
  bool output_bias = true;          // of what attention hands on
  bool feed_forward_bias = true;    // of both its layers
  bool looks_at_source = true;      // a decoder's
  std::string positions = "none";   // of the attention to itself: none, rotary, alibi or relative
  RotaryOptions rotary;
  RelativeOptions relative;
  std::string score = "scaled-dot";  // or dot, as T5 has it
  int64_t window = 0;                // it looks at most so far on each side; 0: everywhere
  double dropout = 0;                // of what each sublayer adds
  double attention_dropout = 0;      // of the attention weights
  double hidden_dropout = 0;         // inside the feed-forward network
  double epsilon = 1e-5;             // of the norms
};

/// What one call of a layer needs besides its input.
struct LayerCall {
  std::optional<Random> random;  // dropout; without it there is none
  Tap* tap = nullptr;
  int64_t layer = 0;     // from 1, for the maps
  at::Tensor bias = {};  // [1, H, Q, K], added to the scores of the attention to itself
};

/// W2 dropout(act(W1 x + b1)) + b2.
class FeedForward {
 public:
  FeedForward(torch::nn::Module& owner, const TransformerLayerOptions& options);
  void initialise(const Random& random);
  at::Tensor forward(const at::Tensor& x, const LayerCall& call) const;

 private:
  friend class PackedDecoderLayer;
  std::shared_ptr<Projection> linear1_, linear2_;
  std::optional<Activation> activation_;  // where there is a kernel for it
  std::string name_;                      // of the activation
  bool gated_;
  double dropout_;
};

class TransformerEncoderLayer : public torch::nn::Module {
 public:
  explicit TransformerEncoderLayer(const TransformerLayerOptions& options);
  void initialise(const Random& random);

  /// x [B, N, D] -> [B, N, D]. `map` names the attention's map and axes.
  at::Tensor forward(const at::Tensor& x, const KeepMask& mask, const MapLabel& map,
                     const LayerCall& call) const;

  const TransformerLayerOptions& options() const { return options_; }
  const std::shared_ptr<MultiHeadAttention>& attention() const { return self_attn_; }

 private:
  TransformerLayerOptions options_;
  std::shared_ptr<MultiHeadAttention> self_attn_;
  std::shared_ptr<Norm> norm1_, norm2_;
  std::unique_ptr<FeedForward> feed_forward_;
};

/// What a decoder layer looks at: its own past, and the source.
struct TransformerMemory {
  Memory written;  // empty at first
  Memory source;   // empty where there is none
  TransformerMemory select(const at::Tensor& rows) const;
};

class TransformerDecoderLayer : public torch::nn::Module {
 public:
  explicit TransformerDecoderLayer(const TransformerLayerOptions& options);
  void initialise(const Random& random);

  /// The source's keys and values, once per source. encoded [B, S, D]; undefined where it looks at
  /// none.
  TransformerMemory look_at(const at::Tensor& encoded, const KeepMask& mask) const;

  /// x [B, N, D] stands at the positions first … first + N - 1, after what memory.written holds;
  /// it is added there when `grow`.
  at::Tensor forward(const at::Tensor& x, int64_t first, TransformerMemory& memory, bool grow,
                     const MapLabel& own_map, const MapLabel& source_map,
                     const LayerCall& call) const;

  const TransformerLayerOptions& options() const { return options_; }
  const std::shared_ptr<MultiHeadAttention>& attention() const { return self_attn_; }
  const std::shared_ptr<MultiHeadAttention>& source_attention() const { return multihead_attn_; }

 private:
  friend class PackedDecoderLayer;  // incremental_transformer.h: the same, position by position
  TransformerLayerOptions options_;
  std::shared_ptr<MultiHeadAttention> self_attn_, multihead_attn_;
  std::shared_ptr<Norm> norm1_, norm2_, norm3_;  // norm3_ where it looks at a source
  std::unique_ptr<FeedForward> feed_forward_;
};

}  // namespace fovea
