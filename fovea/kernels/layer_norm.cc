#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/layer_norm-inl.h"

#include <algorithm>

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
void layer_norm_forward(const LayerNormShape&, int64_t, const LayerNormForward&);
void layer_norm_backward(const LayerNormShape&, int64_t, const LayerNormBackward&);
}  // namespace avx2
namespace avx512 {
void layer_norm_forward(const LayerNormShape&, int64_t, const LayerNormForward&);
void layer_norm_backward(const LayerNormShape&, int64_t, const LayerNormBackward&);
}  // namespace avx512
#endif

void layer_norm_forward(const LayerNormShape& shape, int64_t part, const LayerNormForward& at) {
  FOVEA_PICK(layer_norm_forward)(shape, part, at);
}

void layer_norm_backward(const LayerNormShape& shape, int64_t part, const LayerNormBackward& at) {
  FOVEA_PICK(layer_norm_backward)(shape, part, at);
}

void layer_norm_sums(const LayerNormShape& shape, const float* sums, float* dgamma, float* dbeta) {
  std::fill_n(dgamma, shape.columns, 0.0f);
  std::fill_n(dbeta, shape.columns, 0.0f);
  for (int64_t part = 0; part < shape.parts(); ++part, sums += 2 * shape.columns)
    for (int64_t c = 0; c < shape.columns; ++c)
      dgamma[c] += sums[c], dbeta[c] += sums[shape.columns + c];
}

}  // namespace fovea::kernels
