#define FOVEA_LANES 4
#define FOVEA_INSTRUCTION_SET baseline
#include "fovea/kernels/cell_step-inl.h"

#include "fovea/kernels/pick.h"

namespace fovea::kernels {

#if defined(__x86_64__)
namespace avx2 {
void cell_step(RecurrentCell, const CellRows&);
}
namespace avx512 {
void cell_step(RecurrentCell, const CellRows&);
}
#endif

void cell_step(RecurrentCell cell, const CellRows& at) {
  FOVEA_PICK(cell_step)(cell, at);
}

}  // namespace fovea::kernels
