#include "fovea/attention/low_rank.h"

#include <gtest/gtest.h>

#include "fovea/attention/multi_head.h"
#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::low_rank_test {
namespace {

using at::Tensor;
using testing::expect_error;

Tensor drawn(at::IntArrayRef shape, uint64_t seed) {
  return Random(seed).normal_tensor(shape, 0, 1, at::kFloat);
}

/// A projection from 6 to 10 numbers with adapters of rank 2 on its rows 0 … 3 and 7 … 9.
std::shared_ptr<Projection> adapted(double dropout = 0) {
  auto layer = std::make_shared<Projection>(ProjectionOptions{6, 10}, Random(1));
  const LowRankOptions options{2, 3, dropout};
  layer->adapters.add(*layer, "lora_first", layer->weight, {0, 4}, options);
  layer->adapters.add(*layer, "lora_last", layer->weight, {7, 3}, options);
  return layer;
}

std::vector<std::shared_ptr<LowRankAdapter>> adapters_of(const torch::nn::Module& module) {
  std::vector<std::shared_ptr<LowRankAdapter>> all;
  for (const auto& child : module.modules(/*include_self=*/false))
    if (auto adapter = std::dynamic_pointer_cast<LowRankAdapter>(child)) all.push_back(adapter);
  return all;
}

TEST(LowRank, BeginsAsTheWeightThatItStandsBeside) {
  const auto layer = adapted();
  const Tensor x = drawn({5, 6}, 2), plain = torch::linear(x, layer->weight, layer->bias);
  for (const auto& adapter : adapters_of(*layer)) adapter->initialise(Random(3));
  EXPECT_TRUE(layer->forward(x).equal(plain));
  const auto first = adapters_of(*layer)[0];
  EXPECT_FALSE(first->B.any().item<bool>());
  EXPECT_GT(first->A.abs().max().item<double>(), 0.1);
  EXPECT_LE(first->A.abs().max().item<double>(), 1 / std::sqrt(6.0));
}

TEST(LowRank, ComputesAndLearnsAsTheMergedWeight) {
  const auto layer = adapted();
  const Tensor x = drawn({5, 6}, 2), shares = drawn({5, 10}, 4);
  uint64_t seed = 10;
  {
    torch::NoGradGuard no_gradients;
    for (const auto& adapter : adapters_of(*layer)) {
      adapter->A.copy_(drawn(adapter->A.sizes(), ++seed));
      adapter->B.copy_(drawn(adapter->B.sizes(), ++seed));
    }
  }
  const auto all = adapters_of(*layer);
  const Tensor whole =
      layer->weight +
      1.5 * at::cat({all[0]->B.matmul(all[0]->A), at::zeros({3, 6}), all[1]->B.matmul(all[1]->A)});
  EXPECT_TRUE(layer->adapters.merged(layer->weight).allclose(whole, 1e-5, 1e-6));
  const Tensor expected = torch::linear(x, whole, layer->bias);
  EXPECT_TRUE(layer->forward(x).allclose(expected, 1e-4, 1e-5));
  const std::vector<Tensor> learned{all[0]->A, all[0]->B, all[1]->A, all[1]->B};
  const auto wanted = torch::autograd::grad({(expected * shares).sum()}, learned);
  const auto found = torch::autograd::grad({(layer->forward(x) * shares).sum()}, learned);
  for (size_t i = 0; i < learned.size(); ++i)
    EXPECT_TRUE(found[i].allclose(wanted[i], 1e-4, 1e-5)) << i;
}

TEST(LowRank, DropsOnlyWhatAdaptersAreGiven) {
  const auto layer = adapted(0.5);
  const Tensor x = drawn({200, 6}, 2), plain = torch::linear(x, layer->weight, layer->bias);
  const Random random(7);
  EXPECT_TRUE(layer->forward(x, &random).equal(plain)) << "B is 0";
  torch::NoGradGuard no_gradients;
  for (const auto& adapter : adapters_of(*layer)) adapter->A.fill_(1), adapter->B.fill_(1);
  const Tensor whole = layer->forward(x), some = layer->forward(x, &random);
  EXPECT_FALSE(some.equal(whole));
  EXPECT_TRUE(some.narrow(1, 4, 3).equal(plain.narrow(1, 4, 3))) << "rows without an adapter";
  EXPECT_TRUE(layer->forward(x, &random).equal(some)) << "the same random numbers";
}

TEST(LowRank, StandsBesidePartsOfAnAttention) {
  MultiHeadOptions options;
  options.width = 8;
  options.heads = 2;
  MultiHeadAttention plain(options, Random(1)), adapted(options, Random(1));
  adapted.adapters.add(adapted, "lora_v", adapted.in_proj_weight, {16, 8}, {2, 2, 0});
  MultiHeadInput input;
  input.query = drawn({2, 5, 8}, 2);
  torch::NoGradGuard no_gradients;
  EXPECT_TRUE(adapted.forward_self(input).attended.context.equal(
      plain.forward_self(input).attended.context));
  const auto adapter = adapters_of(adapted)[0];
  adapter->A.copy_(drawn({2, 8}, 3));
  adapter->B.copy_(drawn({8, 2}, 4));
  plain.in_proj_weight.copy_(adapted.adapters.merged(adapted.in_proj_weight));
  const auto found = adapted.forward_self(input).attended,
             wanted = plain.forward_self(input).attended;
  EXPECT_TRUE(found.context.allclose(wanted.context, 1e-4, 1e-5));
  EXPECT_TRUE(found.weights.equal(wanted.weights)) << "values have an adapter, keys have none";
  // Keys and values apart, as a decoder keeps them.
  input.memory = adapted.remember(input.query, input.query, {});
  EXPECT_TRUE(adapted.forward(input).context.allclose(wanted.context, 1e-4, 1e-5));
  expect_error(ErrorKind::Unsupported, "merge the adapters", [&] { adapted.prune({0}); });
}

}  // namespace
}  // namespace fovea::low_rank_test
