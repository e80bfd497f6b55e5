#if defined(__x86_64__)
#define FOVEA_LANES 16
#define FOVEA_INSTRUCTION_SET avx512_bf16
#define FOVEA_ROUNDED
#include "fovea/kernels/best_symbols-inl.h"
#endif
