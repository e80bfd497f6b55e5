// A Transformer's decoder that generates position by position, for a search. It answers as
// TransformerDecoder::step() does; where kernels can, it is faster: weights are packed once, the
// keys and values of a source are shared by its hypotheses, and those of what is generated stay
// where they were made: a hypothesis only knows which row it was at every earlier position.
#pragma once

#include <memory>
#include <vector>

#include "fovea/nn/ops/decode_attention.h"
#include "fovea/nn/ops/packed_projection.h"
#include "fovea/nn/transformer/transformer_stack.h"

namespace fovea {

/// Which entries the rows of a step look at.
struct StepLists {
  std::vector<int64_t> source;               // [R]: the source of each row
  std::vector<std::vector<int64_t>> places;  // [R]: the row it was at each earlier position

  /// Rows `origin` go on.
  void select(const std::vector<int64_t>& origin);
};

/// One layer, with what it needs from step to step.
class PackedDecoderLayer {
 public:
  /// Whether steps of such a layer are made for: no positions in its scores, no window.
  static bool fits(const TransformerDecoderLayer& layer, const TransformerMemory& memory);
  PackedDecoderLayer(const TransformerDecoderLayer& layer, const TransformerMemory& memory);

  /// x [R, D] -> [R, D]
  at::Tensor step(const at::Tensor& x, const StepLists& lists);

 private:
  static PackedProjection hidden_projection(const FeedForward& part);
  at::Tensor look_back(const at::Tensor& x, const StepLists& lists);
  at::Tensor look_at_source(const at::Tensor& x, const StepLists& lists) const;
  at::Tensor think(const at::Tensor& x) const;

  const TransformerDecoderLayer& layer_;
  DecodeAttention own_, other_;
  PackedProjection own_in_, own_out_, other_query_, other_out_, hidden_, narrow_;
  SourceKeys source_;
  std::vector<at::Tensor> generated_;  // by position: queries, keys and values [R, …] of its rows
};

class IncrementalTransformerDecoder {
 public:
  /// Row b stands at the beginning of source b. `decoder` must not change while this lives.
  IncrementalTransformerDecoder(const TransformerDecoder& decoder,
                                std::vector<TransformerMemory> memories);

  /// Rows `origin` (int64 [R]) of the step before go on, in this order.
  void select(const at::Tensor& origin);

  /// The next position. x [R, D] -> [R, D]
  at::Tensor step(const at::Tensor& x, int64_t position);

  bool is_fused() const { return !layers_.empty(); }

 private:
  const TransformerDecoder& decoder_;
  std::vector<TransformerMemory> memories_;  // where it is not fused
  std::vector<PackedDecoderLayer> layers_;
  StepLists lists_;
};

}  // namespace fovea
