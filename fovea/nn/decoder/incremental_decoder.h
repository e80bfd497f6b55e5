// The recurrent decoder that generates step by step, for a search. It answers as Decoder::step()
// does; where kernels can, it is faster: weights are packed once, and the hypotheses of a source
// share its keys and values.
#pragma once

#include <optional>
#include <vector>

#include "fovea/nn/decoder/decoder.h"
#include "fovea/nn/ops/decode_attention.h"
#include "fovea/nn/ops/packed_projection.h"
#include "fovea/nn/recurrent/packed_recurrent.h"

namespace fovea {

class IncrementalDecoder {
 public:
  /// Row b stands at the beginning of source b. `decoder` must not change while this lives. Without
  /// `needs_weights` a step's attention weights may stay undefined.
  IncrementalDecoder(const Decoder& decoder, DecoderSource source, DecoderState start,
                     bool needs_weights);

  /// Rows `origin` (int64 [R]) of the step before go on, in this order.
  void select(const at::Tensor& origin);

  /// The next step. x [R, E]
  DecoderStep step(const at::Tensor& x);

  bool is_fused() const { return recurrent_.has_value(); }

 private:
  bool can_fuse() const;
  Attended look(const at::Tensor& query) const;
  at::Tensor read_out(const at::Tensor& state, const at::Tensor& x,
                      const at::Tensor& context) const;

  const Decoder& decoder_;
  DecoderSource source_;  // of all sources where it is fused, else of all rows
  DecoderState state_;
  bool needs_weights_;
  at::Tensor rows_;  // int64 [R] on the CPU: the source of each row
  std::optional<PackedRecurrent> recurrent_;
  std::optional<PackedProjection> query_, combine_;  // additive scores; tanh readout
  std::optional<SourceKeys> keys_;
  DecodeAttention attention_;
};

}  // namespace fovea
