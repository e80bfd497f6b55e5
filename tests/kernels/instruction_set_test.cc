#include "fovea/kernels/instruction_set.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::instruction_set_test {
namespace {

constexpr const char* kVariable = "FOVEA_INSTRUCTION_SET";

TEST(InstructionSet, HasThreeNames) {
  EXPECT_STREQ(name_of(InstructionSet::Baseline), "baseline");
  EXPECT_STREQ(name_of(InstructionSet::Avx2), "avx2");
  EXPECT_STREQ(name_of(InstructionSet::Avx512), "avx512");
}

TEST(InstructionSet, UsesEverySetThatTheMachineHasAndNoOther) {
  const InstructionSet before = instruction_set();
  for (const auto set : {InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512}) {
    const InstructionSet current = instruction_set();
    const bool has = set <= best_instruction_set();
    EXPECT_EQ(use_instruction_set(set), has) << name_of(set);
    EXPECT_EQ(instruction_set(), has ? set : current) << "a refusal changes nothing";
  }
  use_instruction_set(before);
}

/// What a process started with that value of the variable must use.
InstructionSet expected_for(const std::string& value) {
  for (const InstructionSet set : available_sets())
    if (value == name_of(set)) return set;
  return best_instruction_set();  // an unknown word, or more than the machine has
}

/// Runs this one test again in a process whose environment names `value`.
bool passes_with(const char* value) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kVariable, value, 1);
    if (freopen("/dev/null", "w", stdout) == nullptr) _exit(3);
    execl("/proc/self/exe", "kernels", "--gtest_filter=InstructionSet.StartsAsTheEnvironmentSays",
          static_cast<char*>(nullptr));
    _exit(2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(InstructionSet, StartsAsTheEnvironmentSays) {
  if (const char* value = getenv(kVariable)) {
    EXPECT_EQ(instruction_set(), expected_for(value)) << value;
    return;
  }
  EXPECT_EQ(instruction_set(), best_instruction_set());
  for (const char* value : {"baseline", "avx2", "avx512", "", "sse9"})
    EXPECT_TRUE(passes_with(value)) << value;
}

}  // namespace
}  // namespace fovea::kernels::instruction_set_test
