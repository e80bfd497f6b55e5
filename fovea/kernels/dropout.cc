#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/dropout-inl.h"

#include <algorithm>
#include <cmath>

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
void dropout(const Dropout&, const float*, int64_t, int64_t, int64_t, float*);
}
namespace avx512 {
void dropout(const Dropout&, const float*, int64_t, int64_t, int64_t, float*);
}
#endif

Dropout::Dropout(double rate, uint64_t stream)
    : key(stream),
      threshold(static_cast<uint32_t>(std::min(std::round(rate * 0x1p32), 0x1p32 - 1))),
      scale(static_cast<float>(1 / (1 - rate))) {}

void dropout(const Dropout& dropout, const float* x, int64_t first_row, int64_t rows,
             int64_t columns, float* y) {
  FOVEA_PICK(dropout)(dropout, x, first_row, rows, columns, y);
}

}  // namespace fovea::kernels
