#include "fovea/tensor/blas.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fovea/kernels/instruction_set.h"

namespace fovea::blas_test {
namespace {

TEST(Blas, IsNotThatOf2004) {  // tests/support/fast_blas.cc has chosen before
  const auto name = reinterpret_cast<char* (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (!name || std::getenv("OPENBLAS_CORETYPE")) GTEST_SKIP() << "not OpenBLAS's own choice";
  if (kernels::best_instruction_set() == kernels::InstructionSet::Baseline)
    GTEST_SKIP() << "an old processor";
  EXPECT_STRNE(name(), "Prescott");
  EXPECT_FALSE(use_fast_blas()) << "a second call has nothing to mend";
}

}  // namespace
}  // namespace fovea::blas_test
