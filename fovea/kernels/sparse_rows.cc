#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/sparse_rows-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
#define FOVEA_DECLARE(set)                                                         \
  namespace set {                                                                  \
  void sparse_times(const SparseRows&, int64_t, const float*, int64_t, float*);    \
  void sparse_gradient(const SparseRows&, int64_t, const float*, int64_t, float*); \
  }
FOVEA_DECLARE(avx2)
FOVEA_DECLARE(avx512)
#undef FOVEA_DECLARE
#endif

void sparse_times(const SparseRows& x, int64_t part, const float* w, int64_t columns, float* y) {
  FOVEA_PICK(sparse_times)(x, part, w, columns, y);
}

void sparse_gradient(const SparseRows& x, int64_t column_part, const float* dy, int64_t columns,
                     float* dw) {
  FOVEA_PICK(sparse_gradient)(x, column_part, dy, columns, dw);
}

}  // namespace fovea::kernels
