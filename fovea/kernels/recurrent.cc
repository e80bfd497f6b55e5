#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/recurrent-inl.h"

#include <algorithm>

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
#define FOVEA_DECLARE(set)                                                                   \
  namespace set {                                                                            \
  void recurrent_pack_forward(const RecurrentShape&, const float*, const float*, float*);    \
  void recurrent_pack_backward(const RecurrentShape&, const float*, const float*, float*);   \
  void recurrent_forward(const RecurrentShape&, int64_t, const RecurrentForward&, float*);   \
  void recurrent_backward(const RecurrentShape&, int64_t, const RecurrentBackward&, float*); \
  }
FOVEA_DECLARE(avx2)
FOVEA_DECLARE(avx512)
#undef FOVEA_DECLARE
#endif

namespace {

constexpr int64_t kTallestTile = 8;   // rows of a register tile, of any instruction set
constexpr int64_t kWidestPanel = 32;  // columns of a panel, of any instruction set

int64_t rounded_up(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

int64_t RecurrentShape::rows_of_part() const {
  const int64_t wanted = std::max<int64_t>(rows >= kRecurrentRows ? 2 : 1,
                                           (rows + kRecurrentRows - 1) / kRecurrentRows);
  return std::max(kTallestTile, rounded_up((rows + wanted - 1) / wanted, kTallestTile));
}

int64_t RecurrentShape::parts() const {
  return (rows + rows_of_part() - 1) / rows_of_part();
}

int64_t RecurrentShape::packed() const {
  const int64_t width = gates() * hidden;
  return std::max(rounded_up(width, kWidestPanel) * (hidden + inputs),
                  (rounded_up(hidden, kWidestPanel) + rounded_up(inputs, kWidestPanel)) * width);
}

int64_t RecurrentShape::scratch() const {
  const int64_t products = rounded_up(gates() * hidden, kWidestPanel);
  return rows_of_part() * std::max(2 * products + inputs + 2 * hidden,
                                   rounded_up(hidden, kWidestPanel) +
                                       rounded_up(inputs, kWidestPanel) + (kept() + 1) * hidden);
}

void recurrent_pack_forward(const RecurrentShape& shape, const float* w, const float* u,
                            float* packed) {
  FOVEA_PICK(recurrent_pack_forward)(shape, w, u, packed);
}

void recurrent_pack_backward(const RecurrentShape& shape, const float* w, const float* u,
                             float* packed) {
  FOVEA_PICK(recurrent_pack_backward)(shape, w, u, packed);
}

void recurrent_forward(const RecurrentShape& shape, int64_t part, const RecurrentForward& at,
                       float* scratch) {
  FOVEA_PICK(recurrent_forward)(shape, part, at, scratch);
}

void recurrent_backward(const RecurrentShape& shape, int64_t part, const RecurrentBackward& at,
                        float* scratch) {
  FOVEA_PICK(recurrent_backward)(shape, part, at, scratch);
}

void recurrent_bias_gradients(const RecurrentShape& shape, const float* sums, float* input_bias,
                              float* recurrent_bias) {
  const int64_t h = shape.hidden, row = shape.kept() * h;
  for (int64_t gate = 0; gate < shape.gates(); ++gate)
    for (int64_t unit = 0; unit < h; ++unit) {
      const float *input = sums + gate * h + unit,
                  *recurrent = sums + shape.kept_of(gate) * h + unit;
      float input_sum = 0, recurrent_sum = 0;
      for (int64_t part = 0; part < shape.parts(); ++part)
        input_sum += input[part * row], recurrent_sum += recurrent[part * row];
      input_bias[gate * h + unit] = input_sum;
      recurrent_bias[gate * h + unit] = recurrent_sum;
    }
}

}  // namespace fovea::kernels
