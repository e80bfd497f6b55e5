// Body of attention of single queries, compiled once per instruction set.
#include "fovea/kernels/columns-inl.h"
#include "fovea/kernels/sigmoids-inl.h"
#include "fovea/kernels/step_attention.h"

namespace {

using fovea::kernels::kStepAttentionRows;
using fovea::kernels::StepAttentionRows;
using fovea::kernels::StepAttentionShape;

int64_t whole_vectors(int64_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

/// Lane by lane, what is left to add up of q . k.
inline Lanes dot_parts(const float* query, const float* key, int64_t size) {
  Lanes even{}, odd{};
  int64_t c = 0;
  for (; c + 2 * kLanes <= size; c += 2 * kLanes) {
    even += load(query + c) * load(key + c);
    odd += load(query + c + kLanes) * load(key + c + kLanes);
  }
  if (c + kLanes <= size) even += load(query + c) * load(key + c), c += kLanes;
  if (c < size) odd += load(query + c, size - c) * load(key + c, size - c);
  return even + odd;
}

/// The same of u . tanh(q + k).
inline Lanes additive_parts(const float* query, const float* key, const float* energy,
                            int64_t size) {
  Lanes sum{};
  int64_t c = 0;
  for (; c + kLanes <= size; c += kLanes)
    sum += load(energy + c) * hyperbolic_tangent(load(query + c) + load(key + c));
  if (c < size)
    sum += load(energy + c, size - c) *
           hyperbolic_tangent(load(query + c, size - c) + load(key + c, size - c));
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

/// The scores of one head; e has room for whole vectors. `offset`: of the head's part of a key.
void score_keys(const StepAttentionShape& shape, const float* query, const float* const* keys,
                int64_t offset, int64_t count, float* e) {
  for (int64_t first = 0; first < count; first += kLanes) {
    Lanes parts[kLanes] = {};
    for (int64_t j = 0; j < kLanes && first + j < count; ++j) {
      const float* key = keys[first + j] + offset;
      parts[j] = shape.energy ? additive_parts(query, key, shape.energy, shape.key_size)
                              : dot_parts(query, key, shape.key_size);
    }
    store(e + first, sums_of(parts) * all(shape.energy ? 1.0f : shape.scale));
  }
}

/// e becomes softmax(e). It has room for whole vectors.
void soften(float* e, int64_t count) {
  const int64_t whole = whole_vectors(count);
  for (int64_t j = count; j < whole; ++j) e[j] = -__builtin_inff();
  float largest = e[0];
  for (int64_t j = 1; j < count; ++j) largest = e[j] > largest ? e[j] : largest;
  Accumulator sum;
  for (int64_t j = 0; j < whole; j += kLanes) {
    const Lanes power = exponential(load(e + j) - all(largest));
    store(e + j, power);
    sum.slots[0] += power;
  }
  const Lanes share = all(1.0f / sum.total());
  for (int64_t j = 0; j < whole; j += kLanes) store(e + j, load(e + j) * share);
}

/// out [Vectors * kLanes] = sum_j a_j v_j.
template <int64_t Vectors>
inline void sum_values(const float* const* keys, int64_t offset, const float* weights,
                       int64_t count, float* out) {
  Lanes sums[Vectors] = {};
  for (int64_t j = 0; j < count; ++j) {
    const Lanes weight = all(weights[j]);
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
  Lanes sum{};
  for (int64_t j = 0; j < count; ++j) sum += all(weights[j]) * load(keys[j] + offset + c, size - c);
  store(out + c, sum, size - c);
}

void attend_row(const StepAttentionShape& shape, const float* query, const float* const* keys,
                int64_t count, float* out, float* weights) {
  const int64_t shared = shape.heads / shape.key_heads;
  for (int64_t head = 0; head < shape.heads; ++head) {
    const int64_t own = head / shared;
    score_keys(shape, query + head * shape.key_size, keys, own * shape.key_size, count, weights);
    if (count > 0) soften(weights, count);
    sum_values(keys, shape.value_offset + own * shape.value_size, weights, count, shape.value_size,
               out + head * shape.value_size);
  }
}

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void step_attention(const StepAttentionShape& shape, int64_t part, const StepAttentionRows& at,
                    float* scratch) {
  const int64_t end = (part + 1) * kStepAttentionRows;
  for (int64_t row = part * kStepAttentionRows; row < (end < shape.rows ? end : shape.rows); ++row)
    attend_row(shape, at.queries + row * at.query_row, at.lists[row], at.counts[row],
               at.out + row * shape.heads * shape.value_size, scratch);
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
