#if defined(__x86_64__)
#define FOVEA_LANES 16
#define FOVEA_INSTRUCTION_SET avx512
#include "fovea/kernels/cell_step-inl.h"
#endif
