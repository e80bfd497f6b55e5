#include "fovea/explain/heads/rollout.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::rollout_test {
namespace {

using at::Tensor;

std::vector<Tensor> random_layers(int64_t count, int64_t size, uint64_t seed) {
  torch::manual_seed(seed);
  std::vector<Tensor> layers;
  for (int64_t i = 0; i < count; ++i)
    layers.push_back(torch::softmax(2 * torch::randn({size, size}, torch::kFloat64), 1));
  return layers;
}

Tensor with_residual(const Tensor& layer) {
  return 0.5 * layer + 0.5 * torch::eye(layer.size(0), torch::kFloat64);
}

double at(const Tensor& matrix, int64_t row, int64_t column) {
  return matrix[row][column].item<double>();
}

AttentionMap layer_map(const Tensor& weights, int64_t layer) {
  AttentionMap map;
  map.name = "self";
  map.query_axis = map.key_axis = "tokens";
  map.weights = weights;  // [1, H, N, N]
  map.layer = layer;
  return map;
}

TEST(Rollout, MultipliesLayersWithTheirResidualConnection) {
  const auto first = torch::tensor({{1.0, 0.0}, {0.5, 0.5}}, torch::kFloat64);
  const auto second = torch::tensor({{0.0, 1.0}, {0.0, 1.0}}, torch::kFloat64);
  const Tensor result = rollout(std::vector<Tensor>{first, second});  // [2, 2, 2]
  // A_1 = (1 0; 1/4 3/4), A_2 = (1/2 1/2; 0 1).
  EXPECT_TRUE(
      torch::allclose(result[0], torch::tensor({{1.0, 0.0}, {0.25, 0.75}}, torch::kFloat64)));
  EXPECT_TRUE(
      torch::allclose(result[1], torch::tensor({{0.625, 0.375}, {0.25, 0.75}}, torch::kFloat64)));
}

TEST(Rollout, RowsSumToOneAndIdentityStaysIdentity) {
  const Tensor result = rollout(random_layers(5, 7, 1));
  EXPECT_TRUE(torch::allclose(result.sum(2), torch::ones({5, 7}, torch::kFloat64)));
  const std::vector<Tensor> identity(4, torch::eye(6, torch::kFloat64));
  EXPECT_TRUE(rollout(identity)[3].equal(torch::eye(6, torch::kFloat64)));
  EXPECT_TRUE(attention_flow(identity).equal(torch::eye(6, torch::kFloat64)));
}

TEST(Rollout, RowsThatDoNotSumToOneAreScaledAndEmptyOnesLookAtThemselves) {
  const auto partial = torch::tensor({{0.1, 0.3}, {0.0, 0.0}}, torch::kFloat64);
  const Tensor result = rollout(std::vector<Tensor>{partial})[0];
  EXPECT_TRUE(
      torch::allclose(result, torch::tensor({{0.625, 0.375}, {0.0, 1.0}}, torch::kFloat64)));
}

TEST(Flow, OneLayerIsTheLayerItself) {
  const auto layers = random_layers(1, 5, 2);
  EXPECT_TRUE(torch::allclose(attention_flow(layers), with_residual(layers[0])));
}

TEST(Flow, TwoLayersSumTheNarrowestEdgesOfThePaths) {
  const auto layers = random_layers(2, 6, 3);
  const Tensor first = with_residual(layers[0]), second = with_residual(layers[1]);
  const Tensor flow = attention_flow(layers);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 6; ++j) {
      double expected = 0;
      for (int64_t m = 0; m < 6; ++m) expected += std::min(at(second, i, m), at(first, m, j));
      EXPECT_NEAR(at(flow, i, j), expected, 1e-12);
    }
}

/// The smallest cut between position i of the last of three layers and input j, over all cuts.
double smallest_cut(const std::vector<Tensor>& layers, int64_t i, int64_t j) {
  const int64_t size = layers[0].size(0);
  std::vector<Tensor> a;
  for (const Tensor& layer : layers) a.push_back(with_residual(layer));
  double smallest = 1e9;
  for (int64_t upper = 0; upper < 1 << size; ++upper)
    for (int64_t lower = 0; lower < 1 << size; ++lower) {
      double cut = 0;
      for (int64_t m = 0; m < size; ++m) {
        if (!(upper >> m & 1)) cut += at(a[2], i, m);
        if (lower >> m & 1) cut += at(a[0], m, j);
        for (int64_t n = 0; n < size; ++n)
          if ((upper >> m & 1) && !(lower >> n & 1)) cut += at(a[1], m, n);
      }
      smallest = std::min(smallest, cut);
    }
  return smallest;
}

TEST(Flow, EqualsTheSmallestCutOfThreeLayers) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto layers = random_layers(3, 4, 10 + seed);
    const Tensor flow = attention_flow(layers);
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 4; ++j)
        EXPECT_NEAR(at(flow, i, j), smallest_cut(layers, i, j), 1e-12);
  }
}

TEST(Rollout, MapsAreSortedByLayerAndHeadsAveraged) {
  const auto layers = random_layers(2, 4, 5), more = random_layers(2, 4, 6);
  std::vector<AttentionMap> maps;
  for (const int64_t layer : {1, 0})  // the last layer was reported first
    maps.push_back(layer_map(
        torch::stack({layers[size_t(layer)], more[size_t(layer)]}).unsqueeze(0), layer + 1));
  ASSERT_TRUE(is_stack(maps));
  const std::vector<Tensor> means{(layers[0] + more[0]) / 2, (layers[1] + more[1]) / 2};
  const AttentionMap rolled = rollout_map(maps);
  EXPECT_EQ(rolled.name, "self rollout");
  EXPECT_EQ(rolled.key_axis, "tokens");
  EXPECT_TRUE(torch::allclose(rolled.weights[0][0], rollout(means)[1]));
  EXPECT_EQ(check_map(rolled), "");
}

TEST(Rollout, RefusesWhatIsNoStack) {
  const auto expect = [](ErrorKind kind, const char* word, const std::vector<Tensor>& layers) {
    testing::expect_error(kind, word, [&] { rollout(layers); });
  };
  expect(ErrorKind::InvalidArgument, "none", {});
  expect(ErrorKind::InvalidArgument, "square", {torch::ones({2, 3})});
  expect(ErrorKind::InvalidArgument, "layer 2", {torch::eye(2), torch::eye(3)});
  expect(ErrorKind::InvalidArgument, "negative", {torch::eye(2) - 1});
  expect(ErrorKind::InvalidArgument, "no number", {torch::full({2, 2}, std::nan(""))});

  std::vector<AttentionMap> maps{layer_map(torch::ones({1, 1, 2, 2}) / 2, 1)};
  EXPECT_FALSE(is_stack(maps));
  maps.push_back(maps[0]);
  EXPECT_TRUE(is_stack(maps));
  maps[1].kind = MapKind::Free;
  EXPECT_FALSE(is_stack(maps));
  maps[1].kind = MapKind::Distribution;
  maps[1].query_axis = "other";
  EXPECT_FALSE(is_stack(maps));
  testing::expect_error(ErrorKind::Unsupported, {"self", "two or more"},
                        [&] { rollout_map(maps); });
}

}  // namespace
}  // namespace fovea::rollout_test
