#include "fovea/kernels/decode_attention/decode_attention.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/simd.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

/// Lane by lane, what is left to add up of q . k.
inline Lanes dot_lanes(const float* query, const float* key, int64_t size) {
  Lanes even{}, odd{};
  int64_t c = 0;
  for (; c + 2 * kLanes <= size; c += 2 * kLanes) {
    even += load(query + c) * load(key + c);
    odd += load(query + c + kLanes) * load(key + c + kLanes);
  }
  if (c + kLanes <= size) even += load(query + c) * load(key + c), c += kLanes;
  const FirstLanes rest{size - c};
  if (c < size) odd += load(query + c, rest) * load(key + c, rest);
  return even + odd;
}

/// The same of u . tanh(q + k).
inline Lanes additive_lanes(const float* query, const float* key, const float* energy,
                            int64_t size) {
  Lanes sum{};
  for_vectors(size, [&](int64_t c, auto lanes) {
    sum += load(energy + c, lanes) * tanh(load(query + c, lanes) + load(key + c, lanes));
  });
  return sum;
}

/// The sum of all lanes of each vector.
inline Lanes sums_of(Lanes (&vectors)[kLanes]) {
  transpose_stages<1, float>(vectors);
  Lanes sum = vectors[0];
#pragma GCC unroll 16
  for (int64_t i = 1; i < kLanes; ++i) sum += vectors[i];
  return sum;
}

/// The scores of one head; e has room for whole vectors. `offset`: of the head's numbers in a key.
void score_keys(const DecodeAttentionShape& shape, const float* query, const float* const* keys,
                int64_t offset, int64_t count, float* e) {
  for (int64_t first = 0; first < count; first += kLanes) {
    Lanes sums[kLanes] = {};
    for (int64_t j = 0; j < kLanes && first + j < count; ++j) {
      const float* key = keys[first + j] + offset;
      sums[j] = shape.energy ? additive_lanes(query, key, shape.energy, shape.key_size)
                             : dot_lanes(query, key, shape.key_size);
    }
    store(e + first, sums_of(sums) * broadcast(shape.energy ? 1.0f : shape.scale));
  }
}

/// e becomes softmax(e). It has room for whole vectors.
void softmax(float* e, int64_t count) {
  const int64_t whole = round_up(count, kLanes);
  for (int64_t j = count; j < whole; ++j) e[j] = -__builtin_inff();
  float largest = e[0];
  for (int64_t j = 1; j < count; ++j) largest = e[j] > largest ? e[j] : largest;
  Accumulator sum;
  for (int64_t j = 0; j < whole; j += kLanes) {
    const Lanes power = exp(load(e + j) - broadcast(largest));
    store(e + j, power);
    sum.slots[0] += power;
  }
  const Lanes share = broadcast(1.0f / sum.total());
  for (int64_t j = 0; j < whole; j += kLanes) store(e + j, load(e + j) * share);
}

/// out [Vectors * kLanes] = sum_j a_j v_j.
template <int64_t Vectors>
inline void sum_values(const float* const* keys, int64_t offset, const float* weights,
                       int64_t count, float* out) {
  Lanes sums[Vectors] = {};
  for (int64_t j = 0; j < count; ++j) {
    const Lanes weight = broadcast(weights[j]);
    for (int64_t v = 0; v < Vectors; ++v) sums[v] += weight * load(keys[j] + offset + v * kLanes);
  }
  for (int64_t v = 0; v < Vectors; ++v) store(out + v * kLanes, sums[v]);
}

void sum_values(const float* const* keys, int64_t offset, const float* weights, int64_t count,
                int64_t size, float* out) {
  int64_t c = 0;
  for (; c + 4 * kLanes <= size; c += 4 * kLanes)
    sum_values<4>(keys, offset + c, weights, count, out + c);
  for (; c + 2 * kLanes <= size; c += 2 * kLanes)
    sum_values<2>(keys, offset + c, weights, count, out + c);
  for (; c + kLanes <= size; c += kLanes) sum_values<1>(keys, offset + c, weights, count, out + c);
  if (c == size) return;
  const FirstLanes rest{size - c};
  Lanes sum{};
  for (int64_t j = 0; j < count; ++j)
    sum += broadcast(weights[j]) * load(keys[j] + offset + c, rest);
  store(out + c, sum, rest);
}

void attend_row(const DecodeAttentionShape& shape, const float* query, const float* const* keys,
                int64_t count, float* out, float* weights) {
  const int64_t shared = shape.heads / shape.key_heads;
  for (int64_t head = 0; head < shape.heads; ++head) {
    const int64_t own = head / shared;
    score_keys(shape, query + head * shape.key_size, keys, own * shape.key_size, count, weights);
    if (count > 0) softmax(weights, count);
    sum_values(keys, shape.value_offset + own * shape.value_size, weights, count, shape.value_size,
               out + head * shape.value_size);
  }
}

void attend_rows(const DecodeAttentionShape& shape, int64_t slice, const DecodeAttentionRows& at,
                 float* scratch) {
  const SliceRows rows(slice, kDecodeAttentionRows, shape.rows);
  for (int64_t row = rows.begin; row < rows.end; ++row)
    attend_row(shape, at.queries + row * at.query_row, at.lists[row], at.counts[row],
               at.out + row * shape.heads * shape.value_size, scratch);
}

}  // namespace

struct DecodeAttentionTable {
  decltype(&decode_attention) attend_rows;
};
FOVEA_TABLE(DecodeAttentionTable, attend_rows)

#ifdef FOVEA_ENTRY_POINTS

int64_t DecodeAttentionShape::scratch() const {
  return round_up(longest, kWidestVector);
}

void decode_attention(const DecodeAttentionShape& shape, int64_t slice,
                      const DecodeAttentionRows& at, float* scratch) {
  table().attend_rows(shape, slice, at, scratch);
}

#endif

}  // namespace fovea::kernels
