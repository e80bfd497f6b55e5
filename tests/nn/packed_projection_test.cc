#include "fovea/nn/ops/packed_projection.h"

#include <gtest/gtest.h>

#include "fovea/kernels/instruction_set.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::packed_projection_test {
namespace {

using at::Tensor;

Tensor some(at::IntArrayRef sizes, const char* name) {
  return Random(3).split(name).normal_tensor(sizes, 0, 1, at::kFloat);
}

struct Layer {
  Tensor weight = some({300, 40}, "weight"), bias = some({300}, "bias");
};

TEST(PackedProjection, EqualsTheReadableOne) {
  const Layer layer;
  const Tensor x = some({2, 9, 40}, "x");
  for (const Tensor& bias : {layer.bias, Tensor()}) {
    const PackedProjection packed(layer.weight, bias);
    const Tensor u = torch::linear(x, layer.weight, bias);  // [2, 9, 300]
    EXPECT_TRUE(at::allclose(packed.forward(x), u, 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(packed.forward(x, Finish::Relu), u.relu(), 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(packed.forward(x, Finish::Tanh), u.tanh(), 1e-5, 1e-5));
    const Tensor columns = x.transpose(0, 1);  // not contiguous
    EXPECT_TRUE(at::allclose(packed.forward(columns), u.transpose(0, 1), 1e-5, 1e-5));
  }
}

TEST(PackedProjection, WhatKernelsDoNotTakeGoesThroughTensors) {
  const Layer layer;
  const Tensor x = some({9, 40}, "x").to(at::kDouble);
  const PackedProjection wide(layer.weight.to(at::kDouble), layer.bias.to(at::kDouble));
  EXPECT_FALSE(wide.is_fused(x));
  EXPECT_TRUE(at::allclose(
      wide.forward(x, Finish::Relu),
      torch::linear(x, layer.weight.to(at::kDouble), layer.bias.to(at::kDouble)).relu()));
  const PackedProjection packed(layer.weight, layer.bias);
  EXPECT_TRUE(packed.is_fused(x.to(at::kFloat)));
  const ReadableOnly readable;
  EXPECT_FALSE(packed.is_fused(x.to(at::kFloat)));
  EXPECT_TRUE(packed.forward(x.to(at::kFloat))
                  .equal(torch::linear(x.to(at::kFloat), layer.weight, layer.bias)));
}

TEST(PackedProjection, InAScopeOfBf16NumbersAreRounded) {
  if (!kernels::multiplies_bf16()) GTEST_SKIP() << "no AVX-512 BF16";
  const Layer layer;
  const Tensor x = some({9, 40}, "x");
  const auto product = [&](Precision precision) {
    const PrecisionScope scope(precision, at::kCPU);
    return PackedProjection(layer.weight, layer.bias).forward(x);  // [9, 300]
  };
  const auto near = [](const Tensor& t) { return t.to(at::kBFloat16).to(at::kFloat); };
  const Tensor exact = torch::linear(x, layer.weight, layer.bias);
  EXPECT_TRUE(at::allclose(product(Precision::Float32), exact, 1e-5, 1e-5));
  EXPECT_FALSE(at::allclose(product(Precision::BFloat16), exact, 1e-5, 1e-5));
  EXPECT_TRUE(at::allclose(product(Precision::BFloat16),
                           torch::linear(near(x), near(layer.weight), layer.bias), 1e-5, 1e-5));
}

TEST(PackedProjection, TheBestSymbolsAreThoseOfALogSoftmax) {
  const Layer layer;
  const Tensor x = some({140, 40}, "x");
  const PackedProjection packed(layer.weight, layer.bias);
  const std::vector<int64_t> forbidden{0, 17};
  const Tensor scores = torch::linear(x, layer.weight, layer.bias)
                            .log_softmax(-1)
                            .index_fill(1, torch::tensor(forbidden, at::kLong), -INFINITY);
  const auto [values, symbols] = scores.topk(4, 1);
  const BestSymbols best = packed.best(x, 4, forbidden);
  EXPECT_TRUE(best.symbols.equal(symbols));
  EXPECT_TRUE(at::allclose(best.log_probabilities, values, 1e-5, 1e-5));
  EXPECT_EQ(packed.best(x, 1000, {}).symbols.size(1), 300) << "there are no more";
}

TEST(PackedProjection, ThreadsDoNotChangeABit) {
  const Layer layer;
  const Tensor x = some({300, 40}, "x");
  const PackedProjection packed(layer.weight, layer.bias);
  const int64_t before = threads();
  std::vector<Tensor> results;
  for (const int64_t count : {1, 2}) {
    set_threads(count);
    const BestSymbols best = packed.best(x, 3, {});
    results.insert(results.end(), {packed.forward(x), best.log_probabilities, best.symbols});
  }
  set_threads(before);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(results[i].equal(results[i + 3])) << i;
}

}  // namespace
}  // namespace fovea::packed_projection_test
