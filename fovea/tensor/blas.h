// Which loops OpenBLAS uses.
#pragma once

namespace fovea {

/// OpenBLAS 0.3.21, that of Debian 12, takes a processor that is younger than itself for one of
/// 2004, and multiplies matrices at a quarter of the speed. This makes it choose again, by what the
/// processor can do; OPENBLAS_CORETYPE in the environment still wins. Call it before anything is
/// computed, while there is one thread: programs do, the library does not. False: nothing to mend.
bool use_fast_blas();

}  // namespace fovea
