#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/packed_product-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
#define FOVEA_DECLARE(set)                                                           \
  namespace set {                                                                    \
  void pack_matrix(const PackedShape&, const float*, const float*, float*);          \
  void packed_product(const PackedShape&, int64_t, const float*, const PackedRows&); \
  }
FOVEA_DECLARE(avx2)
FOVEA_DECLARE(avx512)
FOVEA_DECLARE(avx512_bf16)
#undef FOVEA_DECLARE
#endif

int64_t PackedShape::packed() const {
  constexpr int64_t kWidestPanel = 32;  // of any instruction set
  return (outputs + kWidestPanel - 1) / kWidestPanel * kWidestPanel * (inputs + 1);
}

int64_t PackedShape::parts() const {
  return (outputs + kPartOutputs - 1) / kPartOutputs;
}

void pack_matrix(const PackedShape& shape, const float* weight, const float* bias, float* packed) {
  FOVEA_PICK_ROUNDED(shape.rounded, pack_matrix)(shape, weight, bias, packed);
}

void packed_product(const PackedShape& shape, int64_t part, const float* packed,
                    const PackedRows& at) {
  FOVEA_PICK_ROUNDED(shape.rounded, packed_product)(shape, part, packed, at);
}

}  // namespace fovea::kernels
