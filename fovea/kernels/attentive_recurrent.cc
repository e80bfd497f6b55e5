#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/attentive_recurrent-inl.h"

#include <algorithm>

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
#define FOVEA_DECLARE(set)                                                                   \
  namespace set {                                                                            \
  void attentive_pack_forward(const AttentiveShape&, const AttentiveWeights&, float*);       \
  void attentive_pack_backward(const AttentiveShape&, const AttentiveWeights&, float*);      \
  void attentive_forward(const AttentiveShape&, int64_t, const AttentiveForward&, float*);   \
  void attentive_backward(const AttentiveShape&, int64_t, const AttentiveBackward&, float*); \
  }
FOVEA_DECLARE(avx2)
FOVEA_DECLARE(avx512)
#undef FOVEA_DECLARE
#endif

namespace {

/// To whole panels, which are whole vectors too, of any instruction set.
int64_t widest_panels(int64_t columns) {
  constexpr int64_t kWidest = 32;
  return (columns + kWidest - 1) / kWidest * kWidest;
}

}  // namespace

RecurrentShape AttentiveShape::recurrent() const {
  RecurrentShape shape;
  shape.cell = cell, shape.hidden = hidden, shape.rows = rows, shape.steps = steps;
  return shape;
}

int64_t AttentiveShape::gates() const {
  return recurrent().gates();
}

int64_t AttentiveShape::kept() const {
  return recurrent().kept();
}

int64_t AttentiveShape::rows_of_part() const {
  return recurrent().rows_of_part();
}

int64_t AttentiveShape::parts() const {
  return recurrent().parts();
}

int64_t AttentiveShape::packed() const {
  const int64_t width = gates() * hidden, products = width + query_size();
  return std::max(hidden * widest_panels(products) + value_size * widest_panels(width),
                  products * widest_panels(hidden) + width * widest_panels(value_size));
}

int64_t AttentiveShape::scratch() const {
  const int64_t width = gates() * hidden, query = query_size();
  const int64_t forward =
      widest_panels(width + query) + widest_panels(width) + value_size + 2 * hidden;
  const int64_t backward =
      widest_panels(hidden) + widest_panels(value_size) + (kept() + 1) * hidden + query;
  return rows_of_part() * (std::max(forward, backward) + keys * query + 1) + widest_panels(keys) +
         widest_panels(query);
}

void attentive_pack_forward(const AttentiveShape& shape, const AttentiveWeights& weights,
                            float* packed) {
  FOVEA_PICK(attentive_pack_forward)(shape, weights, packed);
}

void attentive_pack_backward(const AttentiveShape& shape, const AttentiveWeights& weights,
                             float* packed) {
  FOVEA_PICK(attentive_pack_backward)(shape, weights, packed);
}

void attentive_forward(const AttentiveShape& shape, int64_t part, const AttentiveForward& at,
                       float* scratch) {
  FOVEA_PICK(attentive_forward)(shape, part, at, scratch);
}

void attentive_backward(const AttentiveShape& shape, int64_t part, const AttentiveBackward& at,
                        float* scratch) {
  FOVEA_PICK(attentive_backward)(shape, part, at, scratch);
}

}  // namespace fovea::kernels
