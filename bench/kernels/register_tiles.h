// What the register tiles of fovea/kernels/gemm-inl.h reach on one thread from operands in the L1
// and L2 caches, in flops per second; 0 where the machine has no AVX-512.
#pragma once

namespace fovea::kernels {

double register_tile_speed();

}  // namespace fovea::kernels
