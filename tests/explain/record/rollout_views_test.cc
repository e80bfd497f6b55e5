#include "fovea/explain/record/rollout_views.h"

#include <gtest/gtest.h>
#include "fovea/explain/heads/rollout.h"
#include "fovea/tensor/torch.h"

namespace fovea::rollout_views_test {
namespace {

MapView layer_view(int64_t layer, int64_t head, const at::Tensor& weights) {
  MapView view;
  view.name = "self";
  view.query_axis = view.key_axis = "token";
  view.layer = layer;
  view.head = head;
  for (int64_t i = 0; i < weights.size(0); ++i) view.query_labels.push_back(std::to_string(i));
  view.key_labels = view.query_labels;
  const at::Tensor values = weights.to(torch::kDouble).contiguous();
  view.weights.assign(values.data_ptr<double>(), values.data_ptr<double>() + values.numel());
  return view;
}

TEST(RolloutViews, RolloutAndFlowOfTheMeanOfHeadsInTheOrderOfLayers) {
  const at::Tensor weights = torch::rand({2, 2, 4, 4}).softmax(-1).to(torch::kDouble);
  std::vector<MapView> maps;
  for (const int64_t layer : {1, 0})  // reported the other way round
    for (int64_t head = 0; head < 2; ++head)
      maps.push_back(layer_view(layer + 1, head + 1, weights[layer][head]));
  maps[0].truth.assign(16, 1);
  add_rollout(maps);
  ASSERT_EQ(maps.size(), 6u);
  const std::vector<at::Tensor> means{weights[0].mean(0), weights[1].mean(0)};
  const at::Tensor rolled = rollout(means)[1], flow = attention_flow(means);
  EXPECT_EQ(maps[4].name, "self rollout");
  EXPECT_EQ(maps[5].name, "self flow");
  std::vector<MapView> again = maps;
  add_rollout(again);
  EXPECT_EQ(again.size(), maps.size()) << "they are there already";
  EXPECT_EQ(maps[4].layer, 0);
  EXPECT_TRUE(maps[4].truth.empty());
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(maps[4].weights[size_t(i)], rolled[i / 4][i % 4].item<double>(), 1e-12);
    EXPECT_NEAR(maps[5].weights[size_t(i)], flow[i / 4][i % 4].item<double>(), 1e-12);
  }
}

TEST(RolloutViews, OnlySelfAttentionOfSeveralLayersWithoutNegativeWeights) {
  const at::Tensor weights = torch::rand({4, 4}).softmax(-1);
  const auto count = [](std::vector<MapView> maps) {
    const size_t before = maps.size();
    add_rollout(maps);
    return maps.size() - before;
  };
  const MapView first = layer_view(1, 0, weights), second = layer_view(2, 0, weights);
  EXPECT_EQ(count({first, second}), 2u);
  EXPECT_EQ(count({first}), 0u) << "one layer";
  MapView cross = second;
  cross.key_axis = "source";
  MapView other = first;
  other.key_axis = "source";
  EXPECT_EQ(count({other, cross}), 0u) << "to another axis";
  MapView negative = second;
  negative.weights[3] = -0.1;
  EXPECT_EQ(count({first, negative}), 0u);
  MapView gap = second;
  gap.weights[3] = NAN;
  EXPECT_EQ(count({first, gap}), 0u);
  const at::Tensor large = torch::full({60, 60}, 1.0 / 60);
  EXPECT_EQ(count({layer_view(1, 0, large), layer_view(2, 0, large)}), 1u) << "flow is too dear";
}

}  // namespace
}  // namespace fovea::rollout_views_test
