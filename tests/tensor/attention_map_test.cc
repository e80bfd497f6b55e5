#include "fovea/tensor/attention_map.h"

#include <gtest/gtest.h>
#include <cmath>

#include "fovea/tensor/torch.h"

namespace fovea::attention_map_test {
namespace {

AttentionMap dense(MapKind kind, const at::Tensor& weights) {
  return {"map", "query", "key", kind, MapLayout::Dense, weights, {}, ""};
}

/// One row [1, 1, 1, K].
AttentionMap row(MapKind kind, std::vector<double> values) {
  return dense(kind, torch::tensor(values, torch::kFloat64).view({1, 1, 1, -1}));
}

/// Edges (query, key, weight) of one head.
AttentionMap edges(MapKind kind, std::vector<int64_t> queries, std::vector<double> weights) {
  const at::Tensor query = torch::tensor(queries, torch::kInt64);
  AttentionMap map = dense(kind, torch::tensor(weights, torch::kFloat64).view({-1, 1}));
  map.layout = MapLayout::Edges;
  map.index = torch::stack({query, torch::zeros_like(query)});  // [2, E]
  return map;
}

bool mentions(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

TEST(AttentionMap, KindsAndLayoutsHaveNames) {
  EXPECT_STREQ(name_of(MapKind::Distribution), "distribution");
  EXPECT_STREQ(name_of(MapKind::Partial), "partial");
  EXPECT_STREQ(name_of(MapKind::Gate), "gate");
  EXPECT_STREQ(name_of(MapKind::Free), "free");
  EXPECT_STREQ(name_of(MapKind::Contribution), "contribution");
  EXPECT_STREQ(name_of(MapLayout::Dense), "dense");
  EXPECT_STREQ(name_of(MapLayout::Edges), "edges");
  EXPECT_STREQ(name_of(MapLayout::Points), "points");
}

TEST(CheckMap, EachKindHasItsOwnRules) {
  struct Case {
    std::vector<double> values;
    const char* problem[5];  // by kind in the order of the enum; "" is none
  };
  const Case cases[] = {
      {{0.25, 0.75}, {"", "", "", "", ""}},
      {{0.25, 0.25}, {"sums to 0.5, not 1", "", "", "", ""}},
      {{0.75, 0.75}, {"more than 1", "more than 1", "", "", ""}},
      {{1.5, -0.5}, {"negative", "negative", "negative", "", ""}},
      {{1.5, 0}, {"more than 1", "more than 1", "above 1", "", ""}},
      {{0, 0}, {"sums to 0, not 1", "", "", "", ""}},
      {{NAN, 1}, {"NaN", "NaN", "NaN", "NaN", "NaN"}},
      {{INFINITY, 0}, {"infinite", "infinite", "infinite", "infinite", "infinite"}}};
  for (const Case& c : cases)
    for (int kind = 0; kind < 5; ++kind) {
      const std::string found = check_map(row(static_cast<MapKind>(kind), c.values));
      const char* expected = c.problem[kind];
      EXPECT_TRUE(*expected ? mentions(found, expected) : found.empty())
          << ::testing::PrintToString(c.values) << ", " << name_of(static_cast<MapKind>(kind))
          << ": '" << found << "'";
    }
}

TEST(CheckMap, OneBrokenRowAmongManyIsFound) {
  at::Tensor weights = torch::rand({3, 2, 4, 5}, torch::kFloat32).softmax(-1);
  EXPECT_EQ(check_map(dense(MapKind::Distribution, weights)), "");
  weights[2][1][3][0] += 0.01;
  EXPECT_TRUE(mentions(check_map(dense(MapKind::Distribution, weights)), "sums to 1.01"));
  EXPECT_EQ(check_map(dense(MapKind::Distribution, weights), {}, 0.02), "") << "within tolerance";
}

TEST(CheckMap, ShapesAreCheckedFirst) {
  EXPECT_TRUE(mentions(check_map(AttentionMap{}), "no weights"));
  EXPECT_TRUE(mentions(check_map(dense(MapKind::Free, torch::zeros({2, 3}))), "2 dimensions"));
  EXPECT_EQ(check_map(dense(MapKind::Distribution, torch::zeros({0, 2, 3, 4}))), "");
  EXPECT_EQ(check_map(dense(MapKind::Distribution, torch::ones({1, 1, 1, 1}, torch::kHalf))), "");
}

TEST(CheckMap, GradientsDoNotMatter) {
  const at::Tensor weights = torch::zeros({1, 1, 1, 2}, torch::requires_grad()).softmax(-1);
  EXPECT_EQ(check_map(dense(MapKind::Distribution, weights)), "");
}

TEST(CheckMap, PaddingMustBeExactlyZero) {
  at::Tensor weights = torch::tensor({0.5, 0.5, 0.0}).view({1, 1, 1, 3});
  const at::Tensor keep = torch::tensor({true, true, false}).view({1, 1, 3});
  EXPECT_EQ(check_map(dense(MapKind::Distribution, weights), keep), "");
  weights = torch::tensor({0.5, 0.49999, 0.00001}).view({1, 1, 1, 3});
  for (const MapKind kind : {MapKind::Distribution, MapKind::Partial, MapKind::Gate, MapKind::Free,
                             MapKind::Contribution})
    EXPECT_TRUE(mentions(check_map(dense(kind, weights), keep), "padding")) << name_of(kind);
  EXPECT_EQ(check_map(dense(MapKind::Distribution, weights)), "") << "nobody said it is padding";
}

TEST(CheckMap, PaddingQueriesHaveNoRow) {
  const at::Tensor weights = torch::tensor({0.5, 0.5, 0.0, 0.0}).view({1, 1, 2, 2});
  const at::Tensor keep = torch::tensor({true, true, false, false}).view({1, 2, 2});
  EXPECT_EQ(check_map(dense(MapKind::Distribution, weights), keep), "");
  EXPECT_NE(check_map(dense(MapKind::Distribution, weights)), "");
  EXPECT_EQ(check_map(dense(MapKind::Distribution, weights * 0), torch::zeros_like(keep)), "");
  EXPECT_NE(check_map(dense(MapKind::Distribution, weights * 0.5), keep), "");
}

TEST(CheckMap, KeepHoldsForEveryHead) {
  const at::Tensor weights = torch::full({2, 3, 1, 2}, 0.5);
  const at::Tensor keep = torch::ones({2, 1, 2}, torch::kBool);
  EXPECT_EQ(check_map(dense(MapKind::Distribution, weights), keep), "");
  EXPECT_TRUE(mentions(check_map(dense(MapKind::Distribution, weights), keep[0]), "keep"));
  EXPECT_TRUE(mentions(
      check_map(dense(MapKind::Distribution, weights), torch::ones({2, 2, 2}, torch::kBool)),
      "keep"));
}

TEST(CheckMap, RowsOfEdgesAreTheEdgesOfAQuery) {
  EXPECT_EQ(check_map(edges(MapKind::Distribution, {0, 1, 0}, {0.25, 1, 0.75})), "");
  EXPECT_EQ(check_map(edges(MapKind::Distribution, {0, 5, 0}, {0.25, 1, 0.75})), "")
      << "queries without edges have no row";
  EXPECT_TRUE(mentions(check_map(edges(MapKind::Distribution, {0, 1, 0}, {0.25, 0.5, 0.75})),
                       "0.5, not 1"));
  EXPECT_EQ(check_map(edges(MapKind::Partial, {0, 1, 0}, {0.25, 0.5, 0.75})), "");
  EXPECT_TRUE(mentions(check_map(edges(MapKind::Partial, {0, 0}, {0.75, 0.75})), "more than 1"));
  EXPECT_TRUE(mentions(check_map(edges(MapKind::Gate, {0}, {-0.5})), "negative"));
  EXPECT_EQ(check_map(edges(MapKind::Free, {0}, {-7})), "");
  EXPECT_EQ(check_map(edges(MapKind::Distribution, {int64_t{1} << 60}, {1})), "")
      << "a large number of a query costs no memory";
}

TEST(CheckMap, EdgesNeedAnIndexThatFits) {
  AttentionMap map = edges(MapKind::Distribution, {0, 1}, {1, 1});
  map.index = at::Tensor();
  EXPECT_TRUE(mentions(check_map(map), "index [2, 2]"));
  map.index = torch::zeros({2, 3}, torch::kInt64);
  EXPECT_TRUE(mentions(check_map(map), "index [2, 2]"));
  map.index = torch::zeros({2}, torch::kInt64);
  EXPECT_TRUE(mentions(check_map(map), "index [2, 2]"));
  map.weights = torch::zeros({1, 1, 1, 2});
  EXPECT_TRUE(mentions(check_map(map), "the edges layout has 2"));
}

TEST(CheckMap, PointsMustOnlyBeFinite) {
  AttentionMap map = row(MapKind::Distribution, {-3, 17});
  map.layout = MapLayout::Points;
  EXPECT_EQ(check_map(map), "");
  map.weights = map.weights / 0;
  EXPECT_TRUE(mentions(check_map(map), "infinite"));
}

}  // namespace
}  // namespace fovea::attention_map_test
