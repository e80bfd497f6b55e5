// For the sources that hold a kernel's baseline: FOVEA_PICK(f) is f of the namespace that fits the
// instruction set in use. All three are declared in the same file. FOVEA_PICK_ROUNDED(is_rounded,
// f) knows a fourth, avx512_bf16, for shapes that are rounded, which exist only where it does.
#pragma once

#include "fovea/kernels/instruction_set.h"

#if defined(__x86_64__)
#define FOVEA_PICK(function)                                                       \
  (::fovea::kernels::instruction_set() == ::fovea::kernels::InstructionSet::Avx512 \
       ? avx512::function                                                          \
   : ::fovea::kernels::instruction_set() == ::fovea::kernels::InstructionSet::Avx2 \
       ? avx2::function                                                            \
       : baseline::function)
#define FOVEA_PICK_ROUNDED(is_rounded, function) \
  ((is_rounded) ? avx512_bf16::function : FOVEA_PICK(function))
#else
#define FOVEA_PICK(function) baseline::function
#define FOVEA_PICK_ROUNDED(is_rounded, function) baseline::function
#endif
