// Layers of a Transformer one on the other. Parameter names follow torch.nn.TransformerEncoder and
// TransformerDecoder: layers.0.self_attn…, norm. The norm at the end exists for pre-norm layers
// only: what they hand on is not normalised. With relative positions the layers share the module
// "relative", as in T5.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/pruned_heads.h"
#include "fovea/nn/transformer/transformer_layer.h"

namespace fovea {

class TransformerEncoder : public torch::nn::Module {
 public:
  TransformerEncoder(const TransformerLayerOptions& options, int64_t layers);
  void initialise(const Random& random);

  /// x [B, N, D] -> [B, N, D]; one map a layer is reported under `map`.
  at::Tensor forward(at::Tensor x, const KeepMask& mask, const MapLabel& map,
                     const std::optional<Random>& random, Tap* tap) const;

  int64_t size() const { return int64_t(layers_.size()); }
  /// The attention of each layer, whose maps are called `map`.
  std::vector<HeadBlock> head_blocks(const std::string& map) const;

 private:
  std::vector<std::shared_ptr<TransformerEncoderLayer>> layers_;
  std::shared_ptr<Norm> norm_;                   // pre-norm only
  std::shared_ptr<RelativePositions> relative_;  // where the layers have them
};

class TransformerDecoder : public torch::nn::Module {
 public:
  TransformerDecoder(const TransformerLayerOptions& options, int64_t layers);
  void initialise(const Random& random);

  /// What each layer looks at, made once per source. encoded [B, S, D]
  std::vector<TransformerMemory> look_at(const at::Tensor& encoded, const KeepMask& mask) const;

  /// All positions at once, each seeing those before it. x [B, T, D] -> [B, T, D]
  at::Tensor forward(const at::Tensor& x, std::vector<TransformerMemory>& memories,
                     const MapLabel& own_map, const MapLabel& source_map,
                     const std::optional<Random>& random, Tap* tap) const;

  /// The next position; the memories grow by it. x [R, 1, D] -> [R, 1, D]
  at::Tensor step(const at::Tensor& x, int64_t position,
                  std::vector<TransformerMemory>& memories) const;

  /// Both attentions of each layer, first all to itself, then all to the source.
  std::vector<HeadBlock> head_blocks(const std::string& own_map,
                                     const std::string& source_map) const;

 private:
  friend class IncrementalTransformerDecoder;
  at::Tensor run(at::Tensor x, int64_t first, std::vector<TransformerMemory>& memories, bool grow,
                 const MapLabel& own_map, const MapLabel& source_map,
                 const std::optional<Random>& random, Tap* tap) const;
  std::vector<std::shared_ptr<TransformerDecoderLayer>> layers_;
  std::shared_ptr<Norm> norm_;                   // pre-norm only
  std::shared_ptr<RelativePositions> relative_;  // where the layers have them
};

}  // namespace fovea
