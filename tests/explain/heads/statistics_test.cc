#include "fovea/explain/heads/statistics.h"

#include <gtest/gtest.h>
#include <cmath>

#include "fovea/tensor/torch.h"
#include "tests/explain/fake_predictor.h"
#include "tests/support/expect_error.h"

namespace fovea::statistics_test {
namespace {

using testing::expect_error;

ExampleSource repeated(const Example& example, int64_t count) {
  return {count, [example](int64_t) { return example; }};
}

Example sentence() {
  Example example = example_with({{"tokens", {"[CLS]", "a", "b", "[SEP]"}}});
  example.axes[0].special = {0, 3};
  return example;
}

AttentionMap layer_of(const at::Tensor& weights, int64_t layer = 1) {
  AttentionMap map = dense_map("attention", "tokens", "tokens", weights);
  map.layer = layer;
  return map;
}

TEST(HeadStatistics, KnowHeadsThatLookAtOnePlace) {
  const at::Tensor own = torch::eye(4), first = torch::zeros({4, 4});
  first.select(1, 0).fill_(1);
  at::Tensor previous = torch::diag(torch::ones({3}), -1);
  previous[0][0] = 1;
  FakePredictor predictor;
  predictor.maps = {layer_of(torch::stack({own, first, previous}).unsqueeze(0))};
  const auto heads = measure_heads(predictor, repeated(sentence(), 3));
  ASSERT_EQ(heads.size(), 3u);
  EXPECT_EQ(heads[0].name, (HeadName{"attention", 1, 1}));
  EXPECT_EQ(heads[0].queries, 12);
  EXPECT_EQ(heads[0].entropy, 0);
  EXPECT_FALSE(heads[0].normalised_entropy) << "no query looks at two keys";
  EXPECT_DOUBLE_EQ(*heads[0].own, 1);
  EXPECT_DOUBLE_EQ(*heads[0].distance, 0);
  EXPECT_DOUBLE_EQ(*heads[0].special, 0.5);
  EXPECT_DOUBLE_EQ(*heads[1].special, 1);
  EXPECT_DOUBLE_EQ(*heads[1].distance, (0 + 1 + 2 + 3) / 4.0);
  EXPECT_DOUBLE_EQ(*heads[2].previous, 0.75);
  EXPECT_DOUBLE_EQ(*heads[2].next, 0);
  EXPECT_DOUBLE_EQ(heads[2].largest, 1);
}

TEST(HeadStatistics, FindSinksAndInductionHeads) {
  // a b c a b c: the second "a" looks at the "b" behind the first.
  at::Tensor sink = torch::zeros({6, 6}), induction = torch::zeros({6, 6});
  sink.select(1, 0).fill_(1);
  for (int64_t i = 0; i < 6; ++i) induction[i][i < 3 ? 0 : i - 2] = 1;
  FakePredictor predictor;
  predictor.maps = {
      layer_of(torch::stack({sink, induction, torch::ones({6, 6}).tril() / 6}).unsqueeze(0))};
  Example twice = example_with({{"tokens", {"a", "b", "c", "a", "b", "c"}}});
  auto heads = measure_heads(predictor, repeated(twice, 2));
  EXPECT_FALSE(heads[1].induction);
  measure_induction(predictor, twice, 3, heads);
  EXPECT_DOUBLE_EQ(*heads[0].sink, 1);
  EXPECT_DOUBLE_EQ(*heads[0].induction, 0);
  EXPECT_EQ(heads[0].does(), "sink");
  EXPECT_DOUBLE_EQ(*heads[1].induction, 1);
  EXPECT_DOUBLE_EQ(*heads[1].sink, 2 / 5.0);
  EXPECT_EQ(heads[1].does(), "induction");
  EXPECT_NEAR(*heads[2].induction, 1 / 6.0, 1e-7);
  EXPECT_EQ(heads[2].does(), "");
}

TEST(HeadStatistics, OnlyTextsThatLookBackHaveSinks) {
  FakePredictor predictor;
  predictor.maps = {layer_of(torch::ones({1, 1, 4, 4}) / 4)};
  EXPECT_FALSE(measure_heads(predictor, repeated(sentence(), 1))[0].sink);
}

TEST(HeadStatistics, EqualPlainSumsOverAllRows) {
  torch::manual_seed(1);
  const at::Tensor weights = torch::randn({1, 2, 4, 4}, at::kDouble).softmax(-1);
  FakePredictor predictor;
  predictor.maps = {layer_of(weights)};
  const auto heads = measure_heads(predictor, repeated(sentence(), 2));
  for (int64_t head = 0; head < 2; ++head) {
    double entropy = 0, distance = 0, special = 0, next = 0, largest = 0;
    for (int64_t i = 0; i < 4; ++i) {
      double most = 0;
      for (int64_t j = 0; j < 4; ++j) {
        const double a = weights[0][head][i][j].item<double>();
        entropy -= a * std::log(a) / 4;
        distance += a * double(std::abs(i - j)) / 4;
        if (j == 0 || j == 3) special += a / 4;
        if (j == i + 1) next += a / 4;
        most = std::max(most, a);
      }
      largest += most / 4;
    }
    const HeadStatistics& found = heads[size_t(head)];
    EXPECT_NEAR(found.entropy, entropy, 1e-12);
    EXPECT_NEAR(*found.normalised_entropy, entropy / std::log(4), 1e-12);
    EXPECT_NEAR(*found.distance, distance, 1e-12);
    EXPECT_NEAR(*found.special, special, 1e-12);
    EXPECT_NEAR(*found.next, next, 1e-12);
    EXPECT_NEAR(found.largest, largest, 1e-12);
  }
}

TEST(HeadStatistics, BlindQueriesDoNotCountAndCausalOnesHaveFewerKeys) {
  at::Tensor weights = torch::zeros({1, 1, 4, 4});
  weights[0][0][1].narrow(0, 0, 2).fill_(0.5);  // uniform over its two keys
  weights[0][0][2].narrow(0, 0, 3).fill_(1.0 / 3);
  FakePredictor predictor;
  predictor.maps = {layer_of(weights)};
  predictor.maps[0].kind = MapKind::Partial;
  const HeadStatistics head = measure_heads(predictor, repeated(sentence(), 1))[0];
  EXPECT_EQ(head.queries, 2);
  EXPECT_NEAR(*head.normalised_entropy, 1, 1e-6);
  EXPECT_NEAR(head.entropy, (std::log(2) + std::log(3)) / 2, 1e-6);
}

TEST(HeadStatistics, OtherAxesHaveNoDistance) {
  Example example = example_with({{"source", {"a", "b"}}});
  FakePredictor predictor;
  Axis target{"target", "token", {"x", "y"}}, written{"written", "token", {"<s>", "x"}};
  written.special = {0};
  predictor.output_axes = {target, written};
  predictor.maps = {
      dense_map("attention", "target", "source", torch::full({1, 1, 2, 2}, 0.5)),
      dense_map("decoder", "target", "written", torch::eye(2).view({1, 1, 2, 2})),
      dense_map("free", "target", "source", torch::ones({1, 1, 2, 2}), MapKind::Free)};
  const auto heads = measure_heads(predictor, repeated(example, 1));
  ASSERT_EQ(heads.size(), 2u) << "weights of any size are no shares";
  EXPECT_FALSE(heads[0].distance || heads[0].special);
  EXPECT_DOUBLE_EQ(*heads[1].own, 1) << "what is written and what was written are one sequence";
  EXPECT_DOUBLE_EQ(*heads[1].special, 0.5);
}

TEST(HeadStatistics, NothingToMeasureIsAnError) {
  FakePredictor predictor;
  expect_error(ErrorKind::InvalidArgument, "no rows",
               [&] { measure_heads(predictor, repeated(sentence(), 0)); });
  expect_error(ErrorKind::InvalidArgument, "no attention",
               [&] { measure_heads(predictor, repeated(sentence(), 1)); });
}

}  // namespace
}  // namespace fovea::statistics_test
