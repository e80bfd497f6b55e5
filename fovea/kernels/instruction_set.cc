#include "fovea/kernels/instruction_set.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace fovea::kernels {

const char* name_of(InstructionSet set) {
  return set == InstructionSet::Avx512 ? "avx512"
         : set == InstructionSet::Avx2 ? "avx2"
                                       : "baseline";
}

InstructionSet best_instruction_set() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return InstructionSet::Avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::Avx2;
#endif
  return InstructionSet::Baseline;
}

namespace {

InstructionSet chosen_at_start() {
  const InstructionSet best = best_instruction_set();
  const char* wanted = std::getenv("FOVEA_INSTRUCTION_SET");
  if (wanted == nullptr) return best;
  for (const InstructionSet set :
       {InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512})
    if (std::strcmp(wanted, name_of(set)) == 0) return std::min(set, best);
  return best;
}

std::atomic<InstructionSet>& current() {
  static std::atomic<InstructionSet> set = chosen_at_start();
  return set;
}

}  // namespace

InstructionSet instruction_set() {
  return current().load(std::memory_order_relaxed);
}

bool multiplies_bf16() {
#if defined(__x86_64__)
  static const bool can = __builtin_cpu_supports("avx512bf16");
  return can && instruction_set() == InstructionSet::Avx512;
#else
  return false;
#endif
}

bool use_instruction_set(InstructionSet set) {
  if (set > best_instruction_set()) return false;
  current() = set;
  return true;
}

}  // namespace fovea::kernels
