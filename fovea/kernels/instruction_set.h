// Which instruction set the kernels use: the best the machine has, or a lower one named by
// FOVEA_INSTRUCTION_SET.
#pragma once

namespace fovea::kernels {

enum class InstructionSet { Baseline = 0, Avx2 = 1, Avx512 = 2 };

/// What the machine has.
InstructionSet best_instruction_set();

/// What the kernels use now.
InstructionSet instruction_set();

/// Whether there are kernels that multiply bfloat16 (AVX-512 BF16) among those in use.
bool multiplies_bf16();

/// For tests: uses `set` from now on; false when the machine does not have it.
bool use_instruction_set(InstructionSet set);

const char* name_of(InstructionSet set);

}  // namespace fovea::kernels
