#include "fovea/tensor/tap.h"

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::tap_test {
namespace {

using testing::expect_error;

AttentionMap map_of(const std::string& name, const at::Tensor& weights) {
  AttentionMap map;
  map.name = name;
  map.weights = weights;
  return map;
}

TEST(Tap, ReportsTheMapAndGoesOnWithIt) {
  Tap tap;
  const at::Tensor weights = torch::rand({1, 1, 2, 3});
  EXPECT_TRUE(tap.report(map_of("a", weights)).is_same(weights));
  ASSERT_EQ(tap.maps().size(), 1u);
  EXPECT_TRUE(tap.map("a").weights.is_same(weights));
}

TEST(Tap, TheLastMapOfANameCounts) {
  Tap tap;
  tap.report(map_of("a", torch::zeros({1})));
  tap.report(map_of("b", torch::zeros({2})));
  tap.report(map_of("a", torch::zeros({3})));
  EXPECT_EQ(tap.maps().size(), 3u);
  EXPECT_EQ(tap.map("a").weights.size(0), 3);
  expect_error(ErrorKind::NotFound, {"'c'", "a, b, a"}, [&] { tap.map("c"); });
}

TEST(Tap, ReplacesWeightsButRecordsWhatWasComputed) {
  Tap tap;
  const at::Tensor computed = torch::rand({1, 1, 2, 3});
  tap.replace("a", [](const AttentionMap& map) { return torch::full_like(map.weights, 1.0 / 3); });
  EXPECT_TRUE(tap.report(map_of("a", computed)).allclose(torch::full({1, 1, 2, 3}, 1.0 / 3)));
  EXPECT_TRUE(tap.map("a").weights.is_same(computed));
  EXPECT_TRUE(tap.report(map_of("b", computed)).is_same(computed)) << "other maps stay";
  tap.replace("a", [](const AttentionMap& map) { return map.weights * 0; });
  EXPECT_EQ(tap.report(map_of("a", computed)).sum().item<double>(), 0) << "the last one counts";
}

TEST(Tap, ReplacementsOfAnotherShapeAreRefused) {
  Tap tap;
  tap.replace("a", [](const AttentionMap&) { return torch::zeros({1, 1, 3, 2}); });
  expect_error(ErrorKind::InvalidArgument, {"'a'", "[1, 1, 3, 2]", "[1, 1, 2, 3]"}, [&] {
    tap.report(map_of("a", torch::zeros({1, 1, 2, 3})));
  });
  tap.replace("a", [](const AttentionMap&) { return at::Tensor(); });
  expect_error(ErrorKind::InvalidArgument, {"'a'", "no tensor"},
               [&] { tap.report(map_of("a", torch::zeros({1}))); });
  EXPECT_TRUE(tap.maps().empty());
}

TEST(Tap, GradientsReachALeafAndTheMaps) {
  Tap tap;
  const at::Tensor input = torch::tensor({1.0, 2.0, 3.0});
  const at::Tensor live = tap.leaf("inputs", input);
  const at::Tensor weights = tap.report(map_of("a", live.softmax(0)));
  const at::Tensor output = (weights * torch::tensor({1.0, 0.0, 0.0})).sum();
  const auto gradients =
      torch::autograd::grad({output}, {tap.leaves().at("inputs").values, tap.map("a").weights});
  const at::Tensor a = input.softmax(0);
  const at::Tensor expected = a[0] * (torch::tensor({1.0, 0.0, 0.0}) - a);
  EXPECT_TRUE(gradients[0].allclose(expected));
  EXPECT_TRUE(gradients[1].allclose(torch::tensor({1.0, 0.0, 0.0})));
  EXPECT_FALSE(input.requires_grad()) << "the caller's tensor is left alone";
  live.detach().fill_(9);
  EXPECT_EQ(input[0].item<double>(), 1) << "and shares no memory";
}

TEST(Tap, ALeafCutsOffWhatCameBefore) {
  Tap tap;
  const at::Tensor parameter = torch::ones({2}, torch::requires_grad());
  EXPECT_TRUE(tap.leaf("x", parameter * 2).is_leaf());
}

TEST(Tap, ALeafThatComesOfAnotherStaysConnected) {
  Tap tap;
  for (int run = 0; run < 2; ++run) {  // the same tap again begins anew
    const at::Tensor words = tap.leaf("words", torch::tensor({1.0, 2.0}));
    const at::Tensor sentences = tap.leaf("sentences", words * 3);
    (sentences * 5).sum().backward();
    EXPECT_TRUE(tap.leaves().at("words").values.grad().equal(torch::tensor({15.0, 15.0})));
    EXPECT_TRUE(tap.leaves().at("sentences").values.grad().equal(torch::tensor({5.0, 5.0})));
  }
}

TEST(Tap, ClearForgetsRecordsButKeepsReplacements) {
  Tap tap;
  tap.replace("a", [](const AttentionMap& map) { return map.weights + 1; });
  tap.report(map_of("a", torch::zeros({1})));
  tap.leaf("x", torch::zeros({1}));
  tap.clear();
  EXPECT_TRUE(tap.maps().empty());
  EXPECT_TRUE(tap.leaves().empty());
  EXPECT_EQ(tap.report(map_of("a", torch::zeros({1}))).item<float>(), 1);
}

TEST(Tap, WithoutATapNothingHappens) {
  const at::Tensor weights = torch::rand({1, 1, 2, 3});
  EXPECT_TRUE(report_to(nullptr, map_of("a", weights)).is_same(weights));
  EXPECT_TRUE(leaf_of(nullptr, "x", weights).is_same(weights));
  Tap tap;
  report_to(&tap, map_of("a", weights));
  EXPECT_TRUE(leaf_of(&tap, "x", weights).requires_grad());
  EXPECT_EQ(tap.maps().size(), 1u);
  EXPECT_EQ(tap.leaves().count("x"), 1u);
}

/// One step of a decoder: row [B, H, 1, K].
AttentionMap step_of(const at::Tensor& whole, int64_t step, MapKind kind = MapKind::Distribution) {
  AttentionMap map = map_of("attention", whole.narrow(2, step, 1));
  map.query_axis = "target";
  map.key_axis = "source";
  map.kind = kind;
  return map;
}

TEST(StepTap, PutsTheStepsTogetherAsOneMap) {
  Tap tap;
  StepTap steps(tap);
  const at::Tensor whole = torch::rand({2, 3, 4, 5}), other = torch::rand({2, 1, 4, 5});
  for (int64_t step = 0; step < 4; ++step) {
    const AttentionMap row = step_of(whole, step);
    EXPECT_TRUE(steps.report(row).is_same(row.weights));
    steps.report(map_of("other", other.narrow(2, step, 1)));
  }
  EXPECT_TRUE(tap.maps().empty()) << "nothing is recorded before the end";
  steps.finish();
  ASSERT_EQ(tap.maps().size(), 2u);
  const AttentionMap& map = tap.map("attention");
  EXPECT_TRUE(map.weights.equal(whole));  // [B, H, Q, K]
  EXPECT_EQ(map.query_axis, "target");
  EXPECT_EQ(map.key_axis, "source");
  EXPECT_EQ(map.kind, MapKind::Distribution);
  EXPECT_TRUE(tap.map("other").weights.equal(other));
}

TEST(StepTap, MapsStandInTheOrderOfTheFirstStep) {
  Tap tap;
  StepTap steps(tap);
  for (int64_t step = 0; step < 2; ++step)
    for (const char* name : {"write", "read"})
      steps.report(map_of(name, torch::rand({1, 1, 1, 3})));
  steps.finish();
  ASSERT_EQ(tap.maps().size(), 2u);
  EXPECT_EQ(tap.maps()[0].name, "write");
  EXPECT_EQ(tap.maps()[1].name, "read");
}

TEST(StepTap, RowsPassTheReplacementOneByOne) {
  Tap tap;
  std::vector<at::Tensor> seen;
  tap.replace("attention", [&](const AttentionMap& map) {
    seen.push_back(map.weights);
    return map.weights * static_cast<double>(seen.size());
  });
  StepTap steps(tap);
  const at::Tensor whole = torch::rand({2, 1, 3, 4});
  for (int64_t step = 0; step < 3; ++step) {
    const at::Tensor row = whole.narrow(2, step, 1);
    EXPECT_TRUE(steps.report(step_of(whole, step)).equal(row * double(step + 1)));
    ASSERT_EQ(seen.size(), size_t(step + 1));
    EXPECT_TRUE(seen.back().equal(row)) << "a replacement sees what was computed";
  }
  steps.finish();
  EXPECT_TRUE(tap.map("attention").weights.equal(whole)) << "and so does the record";
  EXPECT_EQ(seen.size(), 3u) << "finish() replaces nothing once more";
}

TEST(StepTap, TheWeakestKindWins) {
  const at::Tensor whole = torch::rand({1, 1, 3, 2});
  for (int64_t partial = 0; partial < 3; ++partial) {
    Tap tap;
    StepTap steps(tap);
    for (int64_t step = 0; step < 3; ++step)
      steps.report(
          step_of(whole, step, step == partial ? MapKind::Partial : MapKind::Distribution));
    steps.finish();
    EXPECT_EQ(tap.map("attention").kind, MapKind::Partial) << "step " << partial;
  }
}

TEST(StepTap, FinishingTwiceRecordsNothingNew) {
  Tap tap;
  StepTap steps(tap);
  steps.finish();
  EXPECT_TRUE(tap.maps().empty());
  const at::Tensor first = torch::rand({1, 1, 2, 3}), second = torch::rand({1, 1, 4, 3});
  for (int64_t step = 0; step < 2; ++step) steps.report(step_of(first, step));
  steps.finish();
  steps.finish();
  ASSERT_EQ(tap.maps().size(), 1u);
  EXPECT_TRUE(tap.map("attention").weights.equal(first));
  for (int64_t step = 0; step < 4; ++step) steps.report(step_of(second, step));
  steps.finish();
  ASSERT_EQ(tap.maps().size(), 2u);
  EXPECT_TRUE(tap.map("attention").weights.equal(second)) << "the next sentence starts anew";
}

TEST(StepTap, OnlyDenseMapsHaveSteps) {
  Tap tap;
  StepTap steps(tap);
  AttentionMap edges = map_of("edges", torch::rand({4, 1}));
  edges.layout = MapLayout::Edges;
  expect_error(ErrorKind::Internal, {"'edges'", "dense"}, [&] { steps.report(edges); });
}

TEST(StepTap, GradientsReachTheRowsOfTheMap) {
  Tap tap;
  StepTap steps(tap);
  const at::Tensor scores = torch::rand({1, 1, 2, 3}, torch::requires_grad());
  for (int64_t step = 0; step < 2; ++step) steps.report(step_of(scores, step));
  steps.finish();
  const auto gradient =
      torch::autograd::grad({tap.map("attention").weights.select(2, 1).sum()}, {scores});
  EXPECT_TRUE(gradient[0].equal(torch::tensor({0.f, 1.f}).view({1, 1, 2, 1}).expand({1, 1, 2, 3})));
}

}  // namespace
}  // namespace fovea::tap_test
