// attention/multi_head.h as nodes. What a block looks like is read from the block itself: heads may
// have been taken out of one and not of the next.
#pragma once

#include "fovea/attention/multi_head.h"
#include "fovea/export/attention.h"

namespace fovea::onnx {

/// Keys and values of a sequence, by heads.
struct HeadMemory {
  Value keys;    // [B, h, K, F], prepared for the score and turned by their positions
  Value values;  // [B, h, K, d]
};

/// What a sequence that looks at itself needs to know.
struct SelfView {
  HeadMemory past;         // what came before it; empty: nothing
  Value keep;              // bool, broadcasts to [B, 1, N, K]; empty: all
  Value first_position{};  // int64 [1], of x_1; empty: 0
  int64_t window = 0;      // it looks at most so far on each side; 0: everywhere
};

/// Padding is not looked at and looks at nothing. bool [B, N] -> [B, 1, N, N]
Value among_themselves(const Value& keep);

class MultiHead {
 public:
  /// The block that `owner` keeps under this name.
  MultiHead(const Weights& owner, const std::string& name);

  int64_t heads() const { return heads_; }          // 0: all were taken out
  int64_t key_heads() const { return key_heads_; }  // divides the heads
  int64_t head_size() const { return head_size_; }

  /// Keys and values of another sequence, for all queries to come. x [B, K, D]
  HeadMemory remember(const Value& x) const;

  /// query [B, Q, D] -> context [B, Q, D], weights [B, H, Q, K]; without heads no weights. A query
  /// that sees nothing gets 0. keep broadcasts to [B, 1, Q, K]; empty: all
  AttendedValues look(const Value& query, const HeadMemory& memory, const Value& keep) const;

  struct SelfAttended {
    AttendedValues attended;
    HeadMemory memory;  // the past and x
  };
  /// x [B, N, D] looks at what came before it and at itself.
  SelfAttended look_at_itself(const Value& x, const SelfView& view) const;

 private:
  MultiHead(const MultiHeadAttention& block, const Weights& weights);

  /// Rows of in_proj, counted in heads.
  struct Rows {
    const char* name;
    int64_t first, heads;
  };
  Rows query_rows() const { return {"query", 0, heads_}; }
  Rows key_rows() const { return {"key", heads_, key_heads_}; }
  Rows value_rows() const { return {"value", heads_ + key_heads_, key_heads_}; }
  /// By those rows alone, the only ones that the file then holds. x [B, N, D] -> [B, h, N, d]
  Value project(const Value& x, const Rows& rows) const;
  Value in_heads(const Value& x, int64_t heads) const;  // [B, N, h d] -> [B, h, N, d]

  /// Turned by the positions first … where they are rotary. x [B, h, N, d]; first int64 [1] or
  /// empty
  Value placed(const Value& x, const Value& first) const;
  Value prepared(const Value& keys) const;
  /// alibi: -slope times distance, [H, Q, K]; else empty.
  Value distance_bias(const AttendValues& in) const;
  AttendedValues attend_by_heads(AttendValues in) const;  // -> context [B, Q, D]
  AttendedValues without_heads(const Value& query, const Value& keep) const;

  MultiHeadOptions options_;
  Weights weights_;
  at::Tensor slopes_;  // [H], alibi
  int64_t head_size_, heads_, key_heads_;
};

}  // namespace fovea::onnx
