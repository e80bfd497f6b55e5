#include "fovea/kernels/__name__/__name__.h"

#include "fovea/kernels/dispatch.h"

namespace fovea::kernels {
namespace {

void scale_all(const float* x, float scale, int64_t count, float* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = scale * x[i];  // simd.h has vectors for more than this
}

}  // namespace

struct __Name__Table {
  decltype(&__name__) scale_all;
};
FOVEA_TABLE(__Name__Table, scale_all)

}  // namespace fovea::kernels

#ifdef FOVEA_ENTRY_POINTS
namespace fovea::kernels {

void __name__(const float* x, float scale, int64_t count, float* y) {
  table().scale_all(x, scale, count, y);
}

}  // namespace fovea::kernels
#endif
