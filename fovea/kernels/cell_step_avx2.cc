#if defined(__x86_64__)
#define FOVEA_LANES 8
#define FOVEA_INSTRUCTION_SET avx2
#include "fovea/kernels/cell_step-inl.h"
#endif
