#include "fovea/kernels/context_attention.h"

#include <algorithm>

namespace fovea::kernels {

double context_gradient(const ContextShape& shape, const float* parameters,
                        const ContextRows& batch, float* gradient) {
  const int64_t P = shape.positions;
  const float* w = parameters + shape.contexts * P;
  float* dw = gradient + shape.contexts * P;
  const float scale = 2.0f / static_cast<float>(batch.count);
  std::fill_n(gradient, shape.parameters(), 0.0f);
  double total = 0;
  for (int64_t i = 0; i < batch.count; ++i) {
    const int64_t row = batch.rows[i], context = batch.contexts[row];
    const float* x = batch.inputs + row * P;
    const float* a = parameters + context * P;
    float* da = gradient + context * P;
    float y = 0;
    for (int64_t p = 0; p < P; ++p) y += w[p] * (x[p] * a[p]);
    const float error = y + w[P] - batch.targets[row];
    total += double(error) * error;
    const float d = scale * error;
    for (int64_t p = 0; p < P; ++p) {
      da[p] += d * w[p] * x[p];
      dw[p] += d * (x[p] * a[p]);
    }
    dw[P] += d;
  }
  return total;
}

}  // namespace fovea::kernels
