// Part of every test binary: matrices are multiplied as in the program, before the first test.
#include "fovea/tensor/blas.h"

namespace {

[[maybe_unused]] const bool chosen = fovea::use_fast_blas();

}  // namespace
