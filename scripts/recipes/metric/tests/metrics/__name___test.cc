#include "fovea/metrics/__name__.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea::__name___test {
namespace {

TEST(__Name__, CountsWhatIsNearEnough) {
  const at::Tensor target = torch::tensor({1.0, 2.0, 3.0, 4.0});
  EXPECT_EQ(__name__(torch::tensor({1.0, 2.5, 3.05, 9.0}), target, 0.1), 0.5);
  EXPECT_EQ(__name__(torch::empty({0}), torch::empty({0}), 0.1), 0);
  EXPECT_THROW(__name__(torch::empty({1}), torch::empty({2}), 0.1), Error);
}

}  // namespace
}  // namespace fovea::__name___test
