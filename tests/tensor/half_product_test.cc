#include "fovea/tensor/half_product.h"

#include <gtest/gtest.h>

#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::half_product_test {
namespace {

using at::Tensor;

Tensor drawn(at::IntArrayRef shape, uint64_t seed) {
  return Random(seed).normal_tensor(shape, 0, 1, at::kFloat);
}

TEST(HalfLinear, RoundsNothingButTheWeights) {
  for (const auto type : {at::kBFloat16, at::kHalf})
    for (const int64_t rows : {1, 16, 17, 40}) {
      const Tensor x = drawn({2, rows, 65}, 1), weight = drawn({130, 65}, 2).to(type),
                   bias = drawn({130}, 3);
      for (const Tensor& added : {bias, Tensor()}) {
        const Tensor wanted = torch::linear(x, weight.to(at::kFloat), added);
        EXPECT_TRUE(linear_layer(x, weight, added).allclose(wanted, 1e-5, 1e-4)) << rows;
        const ReadableOnly no_kernel;
        EXPECT_TRUE(linear_layer(x, weight, added).allclose(wanted, 1e-5, 1e-4)) << rows;
      }
    }
}

TEST(HalfLinear, HandsGradientsOn) {
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    const Tensor x = drawn({3, 5}, 1).requires_grad_(), weight = drawn({7, 5}, 2).to(type),
                 shares = drawn({3, 7}, 4);
    const auto wanted =
        torch::autograd::grad({(torch::linear(x, weight.to(at::kFloat)) * shares).sum()}, {x});
    const auto found = torch::autograd::grad({(linear_layer(x, weight, {}) * shares).sum()}, {x});
    EXPECT_TRUE(found[0].allclose(wanted[0], 1e-5, 1e-5));
  }
}

TEST(HalfLinear, WidensLargeWeightsInBlocks) {
  const Tensor x = drawn({20, 2048}, 1), weight = drawn({1200, 2048}, 2).to(at::kHalf);
  EXPECT_TRUE(
      linear_layer(x, weight, {}).allclose(torch::linear(x, weight.to(at::kFloat)), 1e-4, 1e-3));
}

}  // namespace
}  // namespace fovea::half_product_test
