#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/step_attention-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
#define FOVEA_DECLARE(set)                                                                   \
  namespace set {                                                                            \
  void step_attention(const StepAttentionShape&, int64_t, const StepAttentionRows&, float*); \
  }
FOVEA_DECLARE(avx2)
FOVEA_DECLARE(avx512)
#undef FOVEA_DECLARE
#endif

int64_t StepAttentionShape::scratch() const {
  constexpr int64_t kWidestVector = 16;  // of any instruction set
  return (longest + kWidestVector - 1) / kWidestVector * kWidestVector;
}

void step_attention(const StepAttentionShape& shape, int64_t part, const StepAttentionRows& at,
                    float* scratch) {
  FOVEA_PICK(step_attention)(shape, part, at, scratch);
}

}  // namespace fovea::kernels
