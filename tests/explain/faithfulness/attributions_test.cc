#include "fovea/explain/faithfulness/attributions.h"

#include <gtest/gtest.h>
#include <cmath>
#include <set>

#include "fovea/explain/heads/rollout.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/faithfulness/linear_predictor.h"

namespace fovea::faithfulness::attributions_test {
namespace {

using at::Tensor;

AttentionMap map_of(const Tensor& weights, MapKind kind = MapKind::Distribution) {
  AttentionMap map;
  map.name = "attention";
  map.query_axis = map.key_axis = "units";
  map.kind = kind;
  map.weights = weights;
  return map;
}

/// With three units of input and one of output.
struct Fixture {
  LinearPredictor predictor{to_numbers({0.5, 0.3, 0.2}), torch::ones({3}, torch::kFloat64)};
  Example example = example_of({1, 1, 1});
  Instance instance = examine(predictor, example, predictor.predict({&example, 1})[0]);

  Attributions attributions(const std::vector<AttentionMap>& layers) const {
    return make_attributions(instance, layers, layers, 32, Random(0));
  }
};

TEST(Attributions, QueriesThatAreInputsAreOneClaim) {
  const Attributions attributions = Fixture().attributions(
      {map_of(torch::tensor({{{{1.0, 0.0, 0.0}, {0.0, 0.5, 0.5}}}}, torch::kFloat64))});
  ASSERT_EQ(attributions.list.size(), 1u);
  EXPECT_FALSE(attributions.by_row);
  EXPECT_EQ(attributions.list[0].unit, kAllUnits);
  EXPECT_EQ(attributions.list[0].weights, (std::vector<double>{0.5, 0.25, 0.25}));
}

TEST(Attributions, RowsCountAsMuchAsAnotherMapLooksAtThem) {
  AttentionMap words =
      map_of(torch::tensor({{{{1.0, 0.0, 0.0}, {0.0, 0.5, 0.5}}}}, torch::kFloat64));
  words.query_axis = "groups";
  AttentionMap groups = map_of(torch::tensor({{{{0.2, 0.8}}}}, torch::kFloat64));
  groups.name = "groups";
  groups.query_axis = "document";
  groups.key_axis = "groups";
  const Fixture fixture;
  const std::vector<AttentionMap> own{words}, all{words, groups};
  const Attributions attributions = make_attributions(fixture.instance, own, all, 32, Random(0));
  const std::vector<double>& weights = attributions.list.at(0).weights;
  EXPECT_NEAR(weights[0], 0.2, 1e-12);
  EXPECT_NEAR(weights[1], 0.4, 1e-12);
  EXPECT_NE(attributions.notes.at(0).find("'groups'"), std::string::npos);
}

TEST(Attributions, AClassTokenSpeaksForThePicture) {
  Fixture fixture;
  Axis patches{"patches", "patch", {"class token", "1", "2"}};
  patches.special = {0};
  patches.grid_rows = 1;
  patches.grid_columns = 2;
  fixture.instance.described.axes.push_back(patches);
  AttentionMap map = map_of(
      torch::tensor({{{{0.5, 0.1, 0.4}, {0.2, 0.8, 0.0}, {1.0, 0.0, 0.0}}}}, torch::kFloat64));
  map.query_axis = map.key_axis = "patches";
  const Attributions attributions = fixture.attributions({map});
  ASSERT_EQ(attributions.list.size(), 1u);
  EXPECT_EQ(attributions.list[0].weights, (std::vector<double>{0, 0.1, 0.4}));
  EXPECT_NE(attributions.notes.at(0).find("class token"), std::string::npos);
}

TEST(Attributions, LayersOfSelfAttentionAreJudgedByTheirRollout) {
  torch::manual_seed(4);
  std::vector<AttentionMap> layers;
  for (int64_t layer = 1; layer <= 3; ++layer) {
    layers.push_back(map_of(torch::randn({1, 2, 3, 3}, torch::kFloat64).softmax(-1)));
    layers.back().layer = layer;
  }
  const Attributions attributions = Fixture().attributions(layers);
  const Tensor expected = rollout_map(layers).weights[0][0].mean(0);
  for (int64_t unit = 0; unit < 3; ++unit)
    EXPECT_NEAR(attributions.list[0].weights[size_t(unit)], expected[unit].item<double>(), 1e-12);
  ASSERT_EQ(attributions.notes.size(), 1u);
  EXPECT_NE(attributions.notes[0].find("rollout"), std::string::npos);
}

TEST(Attributions, LayersThatAreNoStackAreJudgedByTheirMean) {
  std::vector<AttentionMap> layers{
      map_of(torch::tensor({{{{-1.0, 0.0, 0.5}}}}, torch::kFloat64), MapKind::Free),
      map_of(torch::tensor({{{{1.0, 0.5, 0.5}}}}, torch::kFloat64), MapKind::Free)};
  const Attributions attributions = Fixture().attributions(layers);
  EXPECT_EQ(attributions.list[0].weights, (std::vector<double>{1, 0.25, 0.5}));
  EXPECT_NE(attributions.notes.at(0).find("mean"), std::string::npos);
}

TEST(Attributions, WeightsThatAreNoNumbersCountAsNothing) {
  const Attributions attributions = Fixture().attributions(
      {map_of(torch::tensor({{{{std::nan(""), 0.4, 0.6}}}}, torch::kFloat64))});
  EXPECT_EQ(attributions.list[0].weights, (std::vector<double>{0, 0.4, 0.6}));
  EXPECT_NE(attributions.notes.at(0).find("no numbers"), std::string::npos);
  EXPECT_TRUE(Fixture().attributions({map_of(torch::zeros({1, 1, 2, 0}))}).list.empty());
}

TEST(Attributions, TruthIsThatOfTheRowOrOfAnyRow) {
  Fixture fixture;
  const auto weights = torch::full({1, 1, 2, 3}, 1.0 / 3, torch::kFloat64);
  fixture.instance.described.truth["attention"] = torch::tensor({{1, 0, 0}, {0, 0, 1}});
  EXPECT_EQ(fixture.attributions({map_of(weights)}).list[0].truth, (std::vector<char>{1, 0, 1}));
  fixture.instance.described.truth["attention"] = torch::zeros({2, 3});
  EXPECT_TRUE(fixture.attributions({map_of(weights)}).list[0].truth.empty());
}

TEST(Attributions, OrderFallsAndTiesAreDrawn) {
  const std::vector<double> weights{0.1, 0.5, 0.1, 0.2, 0.1};
  std::set<Ranking> seen;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Ranking ranking = rank_units(weights, Random(seed));
    EXPECT_EQ(ranking[0], 1);
    EXPECT_EQ(ranking[1], 3);
    seen.insert(ranking);
  }
  EXPECT_EQ(seen.size(), 6u);  // every order of the three units of weight 0.1
  EXPECT_EQ(rank_units(weights, Random(1)), rank_units(weights, Random(1)));
}

}  // namespace
}  // namespace fovea::faithfulness::attributions_test
