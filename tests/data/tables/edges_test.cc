#include "fovea/data/tables/edges.h"

#include <algorithm>
#include <cmath>

#include "fovea/tensor/random.h"
#include "tests/data/testing.h"

namespace fovea::edges_test {
namespace {

std::vector<double> uniform(int64_t rows, uint64_t seed) {
  const Random random(seed);
  std::vector<double> values;
  for (int64_t row = 0; row < rows; ++row) values.push_back(random.uniform(uint64_t(row)));
  return values;
}

bool ascending(const std::vector<double>& edges) {
  return std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) == edges.end();
}

/// The distance of the nearest edge.
double away(const std::vector<double>& edges, double place) {
  double least = INFINITY;
  for (const double edge : edges) least = std::min(least, std::abs(edge - place));
  return least;
}

TEST(Edges, TheTreeFindsWhereTheTargetJumps) {
  const std::vector<double> x = uniform(4000, 1);
  std::vector<double> y;
  for (const double value : x) y.push_back((value > 0.313) + 2 * (value > 0.777));
  const std::vector<double> edges = fit_edges(x, {y}, 16);
  EXPECT_TRUE(ascending(edges));
  EXPECT_LE(edges.size(), 17u);
  EXPECT_LT(away(edges, 0.313), 0.002);
  EXPECT_LT(away(edges, 0.777), 0.002);
}

TEST(Edges, SeveralClasses) {
  const std::vector<double> x = uniform(4000, 2);
  std::vector<int32_t> y;
  for (const double value : x) y.push_back(value < 0.2 ? 0 : value < 0.62 ? 1 : 2);
  const std::vector<double> edges = fit_edges(x, {{}, y, 3}, 16);
  EXPECT_LT(away(edges, 0.2), 0.002);
  EXPECT_LT(away(edges, 0.62), 0.002);
}

TEST(Edges, QuantilesWhereTheTreeFindsNothing) {
  const std::vector<double> x = uniform(4000, 3), noise = uniform(4000, 4);
  const std::vector<double> edges = fit_edges(x, {noise}, 24);
  ASSERT_GE(edges.size(), 9u);
  EXPECT_LE(edges.size(), 12u) << "noise does not make many";
  for (size_t i = 1; i < edges.size(); ++i) EXPECT_LT(edges[i] - edges[i - 1], 0.3);
}

TEST(Edges, FewValuesAreTheEdges) {
  const std::vector<double> x{3, 1, 2, 3, 1, NAN, 7}, y{0, 1, 0, 1, 0, 1, 0};
  EXPECT_EQ(fit_edges(x, {y}, 8), (std::vector<double>{1, 2, 3, 7}));
  EXPECT_TRUE(fit_edges(std::vector<double>{5, 5, NAN}, {std::vector<double>{0, 1, 0}}, 8).empty());
  EXPECT_TRUE(fit_edges(x, {y}, 0).empty());
}

TEST(Edges, AnOutlierIsBeyondTheLastEdge) {
  std::vector<double> x = uniform(500, 5), y = x;
  x[17] = 1e9, x[18] = -1e9;
  const std::vector<double> edges = fit_edges(x, {y}, 8);
  EXPECT_GE(edges.front(), 0);
  EXPECT_LE(edges.back(), 1);
  x.assign(1000, 0);
  x[3] = 1;  // what is rare but all there is stays
  std::sort(x.begin(), x.end());
  EXPECT_EQ(usual_range(x).high, 1);
}

}  // namespace
}  // namespace fovea::edges_test
