#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/permutation-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
void random_permutation(uint64_t, int64_t, int64_t*);
}
namespace avx512 {
void random_permutation(uint64_t, int64_t, int64_t*);
}
#endif

void random_permutation(uint64_t key, int64_t count, int64_t* order) {
  FOVEA_PICK(random_permutation)(key, count, order);
}

}  // namespace fovea::kernels
