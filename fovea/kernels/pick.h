// For the sources that hold a kernel's baseline: FOVEA_PICK(f) is f of the namespace that fits the
// instruction set in use. All three are declared in the same file.
#pragma once

#include "fovea/kernels/instruction_set.h"

#if defined(__x86_64__)
#define FOVEA_PICK(function)                                                       \
  (::fovea::kernels::instruction_set() == ::fovea::kernels::InstructionSet::Avx512 \
       ? avx512::function                                                          \
   : ::fovea::kernels::instruction_set() == ::fovea::kernels::InstructionSet::Avx2 \
       ? avx2::function                                                            \
       : baseline::function)
#else
#define FOVEA_PICK(function) baseline::function
#endif
