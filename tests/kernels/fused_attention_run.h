// Runs the fused attention kernel on dense numbers in double precision: rounds them to the element
// type, lays them out as views of [B, N, H * D] with gaps, and checks that scratch space suffices.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "tests/kernels/fused_attention_reference.h"
#include "tests/kernels/testing.h"

namespace fovea::kernels {

struct BFloat16Bits {
  uint16_t bits;
};

template <class E>
struct ElementOf {
  typedef E Sum;
  static constexpr Element kElement =
      sizeof(E) == sizeof(double) ? Element::Float64 : Element::Float32;
  static E of(double value) { return static_cast<E>(value); }
  static double value(E element) { return static_cast<double>(element); }
};
template <>
struct ElementOf<BFloat16Bits> {
  typedef float Sum;
  static constexpr Element kElement = Element::BFloat16;
  static BFloat16Bits of(double value) {
    uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    if (value == value) bits += 0x7FFF + ((bits >> 16) & 1);
    return {static_cast<uint16_t>(bits >> 16)};
  }
  static double value(BFloat16Bits element) {
    return static_cast<double>(std::bit_cast<float>(uint32_t{element.bits} << 16));
  }
};

/// [B, heads, rows, width] as a view of [B, rows, heads * width + 3], five numbers between batches.
template <class E>
class Strided {
 public:
  Strided(int64_t batch, int64_t heads, int64_t rows, int64_t width)
      : batch_(batch),
        heads_(heads),
        rows_(rows),
        width_(width),
        row_(heads * width + 3),
        data_(size_t(batch * (rows * row_ + 5)), ElementOf<E>::of(777)) {}
  Strided(int64_t batch, int64_t heads, int64_t rows, int64_t width,
          const std::vector<double>& from)
      : Strided(batch, heads, rows, width) {
    size_t at = 0;
    each([&](E& element) { element = ElementOf<E>::of(from[at++]); });
  }

  Rows rows() const { return {data_.data(), rows_ * row_ + 5, width_, row_}; }
  MutableRows mutable_rows() { return {data_.data(), rows_ * row_ + 5, width_, row_}; }

  /// The view's numbers; fails the test when something was written beside them.
  std::vector<double> dense() {
    std::vector<double> values;
    each([&](E& element) {
      values.push_back(ElementOf<E>::value(element));
      element = ElementOf<E>::of(777);
    });
    for (const E& element : data_)
      EXPECT_EQ(ElementOf<E>::value(element), ElementOf<E>::value(ElementOf<E>::of(777)));
    return values;
  }

 private:
  template <class Work>
  void each(Work work) {
    for (int64_t b = 0; b < batch_; ++b)
      for (int64_t h = 0; h < heads_; ++h)
        for (int64_t i = 0; i < rows_; ++i)
          for (int64_t d = 0; d < width_; ++d)
            work(data_[size_t(b * (rows_ * row_ + 5) + i * row_ + h * width_ + d)]);
  }

  int64_t batch_, heads_, rows_, width_, row_;
  std::vector<E> data_;
};

/// So many bytes, with a guard behind them that must not change.
class Guarded {
 public:
  explicit Guarded(int64_t bytes) : bytes_(size_t(bytes)), block_(bytes_ + 64, 0xA5) {}
  ~Guarded() {
    EXPECT_TRUE(std::all_of(block_.begin() + std::ptrdiff_t(bytes_), block_.end(),
                            [](uint8_t byte) { return byte == 0xA5; }))
        << "written behind the scratch space";
  }
  void* data() { return block_.data(); }

 private:
  size_t bytes_;
  std::vector<uint8_t> block_;
};

/// 0 … count - 1, or backwards.
inline std::vector<int64_t> part_order(int64_t count, bool backwards) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) order.push_back(backwards ? count - 1 - i : i);
  return order;
}

template <class E>
AttentionResult run_fused(const AttentionCase& c, const AttentionInputs& in,
                          bool backwards = false) {
  typedef typename ElementOf<E>::Sum T;
  const Strided<E> q(c.batch, c.heads, c.queries, c.head_size, in.q);
  const Strided<E> k(c.batch, c.key_heads, c.keys, c.head_size, in.k);
  const Strided<E> v(c.batch, c.key_heads, c.keys, c.value_size, in.v);
  const Strided<E> g(c.batch, c.heads, c.queries, c.value_size, in.out_gradient);
  FusedAttentionProblem p{
      .element = ElementOf<E>::kElement,
      .batch = c.batch,
      .heads = c.heads,
      .key_heads = c.key_heads,
      .queries = c.queries,
      .keys = c.keys,
      .head_size = c.head_size,
      .value_size = c.value_size,
      .q = q.rows(),
      .k = k.rows(),
      .v = v.rows(),
      .scale = in.scale,
      .keep_keys = in.keep_keys.empty() ? nullptr : in.keep_keys.data(),
      .keep_queries = in.keep_queries.empty() ? nullptr : in.keep_queries.data(),
      .first_query = c.first_query,
      .band_low = c.band_low,
      .band_high = c.band_high,
      .slopes = c.slopes ? in.slopes.data() : nullptr,
      .dropout_rate = c.dropout_rate,
      .dropout_key = in.dropout_key};
  AttentionResult result;
  Strided<E> out(c.batch, c.heads, c.queries, c.value_size);
  std::vector<T> lse(size_t(c.batch * c.heads * c.queries), T(777));
  const FusedAttentionWork forward = fused_attention_forward_work(p);
  for (int64_t slice : part_order(forward.slices, backwards))
    fused_attention_forward(p, slice, out.mutable_rows(), lse.data(),
                            Guarded(forward.scratch).data());
  result.lse.assign(lse.begin(), lse.end());

  Strided<E> dq(c.batch, c.heads, c.queries, c.head_size);
  Strided<E> dk(c.batch, c.key_heads, c.keys, c.head_size);
  Strided<E> dv(c.batch, c.key_heads, c.keys, c.value_size);
  const FusedAttentionGradient gradient{out.rows(),        lse.data(),        g.rows(),
                                        dq.mutable_rows(), dk.mutable_rows(), dv.mutable_rows()};
  const FusedAttentionWork backward = fused_attention_backward_work(p);
  Guarded shared(backward.shared);
  for (int64_t slice : part_order(backward.slices, backwards))
    fused_attention_backward(p, slice, gradient, shared.data(), Guarded(backward.scratch).data());
  for (int64_t slice : part_order(backward.sum_slices, backwards))
    fused_attention_backward_sum(p, slice, gradient, shared.data(),
                                 Guarded(backward.scratch).data());
  result.out = out.dense();
  result.q = dq.dense();
  result.k = dk.dense();
  result.v = dv.dense();

  const int64_t row = c.keys + 2;  // numbers between the rows of the target
  std::vector<T> weights(size_t(c.queries * row), T(777));
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h) {
      const int64_t first = std::min<int64_t>(3, c.queries);  // not from a tile's beginning
      for (const auto& [from, count] : {std::pair{int64_t{0}, first}, {first, c.queries - first}})
        fused_attention_weights(p, {b, h, from, count}, weights.data() + from * row, row,
                                Guarded(fused_attention_weights_scratch(p)).data());
      for (int64_t i = 0; i < c.queries; ++i)
        for (int64_t j = 0; j < row; ++j)
          if (j < c.keys) {
            result.weights.push_back(double(weights[size_t(i * row + j)]));
          } else {
            EXPECT_EQ(weights[size_t(i * row + j)], T(777));
          }
    }
  return result;
}

inline void expect_same_bits(const AttentionResult& a, const AttentionResult& b) {
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.lse, b.lse);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.k, b.k);
  EXPECT_EQ(a.v, b.v);
}

/// Numbers below 1, queries below c.size, rounded to the element type.
template <class E>
AttentionInputs inputs_of(const AttentionCase& c) {
  Numbers numbers(7);
  const auto some = [&](int64_t heads, int64_t rows, int64_t width, double size) {
    std::vector<double> values;
    for (int64_t i = 0; i < c.batch * heads * rows * width; ++i)
      values.push_back(ElementOf<E>::value(ElementOf<E>::of(size * double(numbers.next()))));
    return values;
  };
  AttentionInputs in;
  in.q = some(c.heads, c.queries, c.head_size, c.size);
  in.k = some(c.key_heads, c.keys, c.head_size, 1);
  in.v = some(c.key_heads, c.keys, c.value_size, 1);
  in.out_gradient = some(c.heads, c.queries, c.value_size, 1);
  in.scale = 1.3 / std::sqrt(double(c.head_size));
  for (int64_t h = 0; h < c.heads; ++h) in.slopes.push_back(0.3 / double(h + 1));
  for (int64_t i = 0; c.keep_keys && i < c.batch * c.keys; ++i) {
    const int64_t b = i / c.keys, j = i % c.keys;
    in.keep_keys.push_back(j < c.keys - 66 * b && (j < 64 || j >= 128 || b != 0) && j % 5 != 2);
  }
  for (int64_t i = 0; c.keep_queries && i < c.batch * c.queries; ++i)
    in.keep_queries.push_back(i % 7 != 3 && i % c.queries < c.queries - (i < c.queries ? 2 : 30));
  return in;
}

}  // namespace fovea::kernels
