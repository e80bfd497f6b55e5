#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/best_symbols-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
#define FOVEA_DECLARE(set)                                                     \
  namespace set {                                                              \
  void best_symbols(const BestSymbolsShape&, int64_t, const BestSymbolsRows&); \
  }
FOVEA_DECLARE(avx2)
FOVEA_DECLARE(avx512)
FOVEA_DECLARE(avx512_bf16)
#undef FOVEA_DECLARE
#endif

void best_symbols(const BestSymbolsShape& shape, int64_t part, const BestSymbolsRows& at) {
  FOVEA_PICK_ROUNDED(shape.layer.rounded, best_symbols)(shape, part, at);
}

}  // namespace fovea::kernels
