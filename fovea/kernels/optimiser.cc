#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/optimiser-inl.h"

#include "fovea/kernels/instruction_set.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
void optimiser_step(const OptimiserSettings&, int64_t, float*, const float*, float*, float*,
                    int64_t);
}
namespace avx512 {
void optimiser_step(const OptimiserSettings&, int64_t, float*, const float*, float*, float*,
                    int64_t);
}
#endif

void optimiser_step(const OptimiserSettings& settings, int64_t step, float* parameters,
                    const float* gradient, float* first, float* second, int64_t count) {
#if defined(__x86_64__)
  if (instruction_set() == InstructionSet::Avx512)
    return avx512::optimiser_step(settings, step, parameters, gradient, first, second, count);
  if (instruction_set() == InstructionSet::Avx2)
    return avx2::optimiser_step(settings, step, parameters, gradient, first, second, count);
#endif
  baseline::optimiser_step(settings, step, parameters, gradient, first, second, count);
}

double squared_norm(const float* values, int64_t count) {
  double parts[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int64_t j = 0; j < 8; ++j) parts[j] += double(values[i + j]) * values[i + j];
  for (; i < count; ++i) parts[i % 8] += double(values[i]) * values[i];
  return ((parts[0] + parts[4]) + (parts[1] + parts[5])) +
         ((parts[2] + parts[6]) + (parts[3] + parts[7]));
}

}  // namespace fovea::kernels
