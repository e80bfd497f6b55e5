#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/cross_entropy-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
double cross_entropy(const CrossEntropyShape&, int64_t, const CrossEntropyRows&);
}
namespace avx512 {
double cross_entropy(const CrossEntropyShape&, int64_t, const CrossEntropyRows&);
}
#endif

double cross_entropy(const CrossEntropyShape& shape, int64_t part, const CrossEntropyRows& at) {
  return FOVEA_PICK(cross_entropy)(shape, part, at);
}

}  // namespace fovea::kernels
