#include "fovea/tensor/blas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "fovea/kernels/instruction_set.h"

namespace fovea {

bool use_fast_blas() {
  const auto name = reinterpret_cast<char* (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  const auto begin = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init"));
  const auto end = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"));
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  const kernels::InstructionSet set = kernels::best_instruction_set();
  if (!name || !begin || !end || std::getenv(kVariable) ||
      set == kernels::InstructionSet::Baseline || std::string_view(name()) != "Prescott")
    return false;
  ::setenv(kVariable, set == kernels::InstructionSet::Avx512 ? "SkylakeX" : "Haswell", 1);
  end();
  begin();
  ::unsetenv(kVariable);
  return true;
}

}  // namespace fovea
