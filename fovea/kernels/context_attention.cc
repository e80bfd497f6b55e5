#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/context_attention-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
double context_gradient(const ContextShape&, const float*, const ContextRows&, float*);
double context_train(const ContextShape&, const ContextRows&, int64_t, const OptimiserSteps&);
}  // namespace avx2
namespace avx512 {
double context_gradient(const ContextShape&, const float*, const ContextRows&, float*);
double context_train(const ContextShape&, const ContextRows&, int64_t, const OptimiserSteps&);
}  // namespace avx512
#endif

double context_gradient(const ContextShape& shape, const float* parameters,
                        const ContextRows& batch, float* gradient) {
  return FOVEA_PICK(context_gradient)(shape, parameters, batch, gradient);
}

double context_train(const ContextShape& shape, const ContextRows& rows, int64_t batch_size,
                     const OptimiserSteps& steps) {
  return FOVEA_PICK(context_train)(shape, rows, batch_size, steps);
}

}  // namespace fovea::kernels
