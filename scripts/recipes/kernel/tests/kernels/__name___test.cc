#include "fovea/kernels/__name__/__name__.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/testing.h"

namespace fovea::kernels::__name___test {
namespace {

TEST(__Name__, EveryInstructionSetAgrees) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    for (const int64_t count : {0, 1, 7, 16, 33}) {
      const auto size = static_cast<size_t>(count);
      std::vector<float> x(size), y(size, -1);
      for (size_t i = 0; i < size; ++i) x[i] = float(i) - 3;
      __name__(x.data(), 2, count, y.data());
      for (size_t i = 0; i < size; ++i) EXPECT_EQ(y[i], 2 * x[i]) << name_of(set) << " " << i;
    }
  }
}

}  // namespace
}  // namespace fovea::kernels::__name___test
