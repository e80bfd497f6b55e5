#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/activation-inl.h"

#include <algorithm>

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
void activation_forward(const ActivationShape&, int64_t, const float*, const float*, float*);
void activation_backward(const ActivationShape&, int64_t, const ActivationBackward&);
}  // namespace avx2
namespace avx512 {
void activation_forward(const ActivationShape&, int64_t, const float*, const float*, float*);
void activation_backward(const ActivationShape&, int64_t, const ActivationBackward&);
}  // namespace avx512
#endif

void activation_forward(const ActivationShape& shape, int64_t part, const float* x,
                        const float* bias, float* y) {
  FOVEA_PICK(activation_forward)(shape, part, x, bias, y);
}

void activation_backward(const ActivationShape& shape, int64_t part, const ActivationBackward& at) {
  FOVEA_PICK(activation_backward)(shape, part, at);
}

void activation_sums(const ActivationShape& shape, const float* sums, float* dbias) {
  std::fill_n(dbias, shape.columns, 0.0f);
  for (int64_t part = 0; part < shape.parts(); ++part, sums += shape.columns)
    for (int64_t c = 0; c < shape.columns; ++c) dbias[c] += sums[c];
}

}  // namespace fovea::kernels
