#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <climits>

#include "cli/program.h"
#include "fovea/tensor/blas.h"

namespace {

/// The tensors of a step come and go by the megabyte. Memory that goes back to the system each time
/// is cleared and mapped again, which can cost more than the arithmetic; so it is kept.
void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD  // glibc
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  fovea::use_fast_blas();
  return fovea::cli::run_program(argc, argv);
}
