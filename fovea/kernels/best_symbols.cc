#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/best_symbols-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
void best_symbols(const BestSymbolsShape&, int64_t, const BestSymbolsRows&);
}
namespace avx512 {
void best_symbols(const BestSymbolsShape&, int64_t, const BestSymbolsRows&);
}
#endif

void best_symbols(const BestSymbolsShape& shape, int64_t part, const BestSymbolsRows& at) {
  FOVEA_PICK(best_symbols)(shape, part, at);
}

}  // namespace fovea::kernels
