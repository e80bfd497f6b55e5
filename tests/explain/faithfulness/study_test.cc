// How the measuring goes about its work: batches, seeds and threads, what a predictor cannot give,
// and verdicts of networks that are known.
#include "fovea/explain/faithfulness/faithfulness.h"

#include <gtest/gtest.h>
#include <array>
#include <cmath>
#include <map>

#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/faithfulness/measuring.h"
#include "tests/support/expect_error.h"

namespace fovea::study_test {
namespace {

TEST(FaithfulnessStudy, EveryRowStepAndBatchIsPermutedOnItsOwn) {
  const at::Tensor row = torch::softmax(torch::arange(8, torch::kFloat64), 0);
  LinearPredictor predictor{torch::stack({row, row}).unsqueeze(0),
                            torch::ones({8}, torch::kFloat64)};
  predictor.rows_are_outputs = predictor.step_by_step = true;
  std::vector<at::Tensor> used;
  predictor.used_weights = &used;
  FaithfulnessOptions options = options_of_tests();
  options.permutations = 500;
  measure(predictor, example_of(Numbers(8, 1)), options);
  std::vector<at::Tensor> changed;
  for (const at::Tensor& weights : used)
    if (weights.size(0) > 1) changed.push_back(weights.squeeze(1));  // [B, 2, 8]
  const at::Tensor rows = torch::cat(changed);
  const at::Tensor first = rows.select(1, 0), second = rows.select(1, 1);
  const at::Tensor moved = first.ne(row).any(1);
  EXPECT_GT(moved.sum().item<int64_t>(), 490);
  EXPECT_GT(first.ne(second).any(1).sum().item<int64_t>(), 490);  // steps differ
  const auto different =
      std::get<0>(at::unique_dim(first.masked_select(moved.unsqueeze(1)).view({-1, 8}), 0));
  EXPECT_GT(different.size(0), 485);  // and so do batches: of 40,320 permutations few come twice
}

TEST(FaithfulnessStudy, FiguresThatSomeExamplesLackSaySo) {
  // Parts 0.4 each: without an order there is no tau.
  const std::vector<Example> examples{example_of(kInput), example_of({1, 4.0 / 3, 2, 4})};
  const auto result = measure_faithfulness(four_units(), examples, options_of_tests()).at(0);
  EXPECT_NEAR(value_of(result, "tau with leave one out"), 1 / std::sqrt(30.0), 1e-9);
  EXPECT_TRUE(has_note(result, "tau with leave one out: defined for 1 of 2 examples"));
}

TEST(FaithfulnessStudy, LongOutputsAreSampled) {
  LinearPredictor predictor{torch::softmax(torch::randn({1, 40, 5}, torch::kFloat64), -1),
                            torch::ones({5}, torch::kFloat64)};
  predictor.rows_are_outputs = true;
  FaithfulnessOptions options = options_of_tests();
  options.most_rows = 3;
  options.curve_points = 0;
  options.permutations = 0;
  const Faithfulness result = measure(predictor, example_of({1, 1, 1, 1, 1}), options);
  EXPECT_TRUE(has_note(result, "3 units were judged"));
  EXPECT_FALSE(find(result, "permuted attention").value);
  EXPECT_LT(predictor.counts->rows, 70);
}

/// Each opinion by its name, of the attribution at a place.
std::map<std::string, Numbers> opinions(const Faithfulness& result, size_t place) {
  std::map<std::string, Numbers> found;
  for (const auto& series : result.importances.at(place).series) found[series.name] = series.values;
  return found;
}

TEST(FaithfulnessStudy, WhatEachUnitMattersIsRecordedOfASingleExample) {
  LinearPredictor predictor = four_units();
  const Example example = example_of(kInput);
  const Faithfulness result = measure(predictor, example);
  ASSERT_EQ(result.importances.size(), 1u);
  const auto found = opinions(result, 0);
  ASSERT_EQ(found.size(), 3u);
  for (const auto& [name, values] : found) EXPECT_EQ(values.size(), kInput.size()) << name;
  expect_near(found.at("attention"), kWeights);
  // The output is a sum of one part per unit, which is what it loses without the unit.
  expect_near(found.at("leave one out"), found.at("gradient x input"));
  predictor.has_leaves = false;
  EXPECT_FALSE(opinions(measure(predictor, example), 0).contains("gradient x input"));
  const std::array<Example, 2> two{example, example};
  EXPECT_TRUE(measure_faithfulness(predictor, two, options_of_tests()).at(0).importances.empty());
}

TEST(FaithfulnessStudy, WhatThePredictorCannotGiveIsUndefinedWithANote) {
  LinearPredictor predictor = four_units();
  predictor.has_leaves = false;
  Faithfulness result = measure(predictor, example_of(kInput));
  EXPECT_FALSE(find(result, "tau with gradient x input").value);
  EXPECT_TRUE(has_note(result, "no gradients for the axis 'units'"));
  EXPECT_EQ(result.curves[0].series.size(), 3u);

  predictor.erasable = false;
  result = measure(predictor, example_of(kInput));
  EXPECT_FALSE(find(result, "comprehensiveness").value);
  EXPECT_TRUE(result.curves.empty());
  EXPECT_TRUE(has_note(result, "cannot be erased"));
  EXPECT_EQ(result.trust, "unknown");
  EXPECT_TRUE(find(result, "permuted attention").value);
}

/// Reports any map, and puts out any number of units.
struct OtherPredictor : LinearPredictor {
  AttentionMap other;
  int64_t outputs = 1;
  OtherPredictor() : LinearPredictor(four_units()) {}
  at::Tensor replay_batch(std::span<const Example> examples, std::span<const Prediction>,
                          Tap& tap) const override {
    tap.report(other);
    return torch::zeros({static_cast<int64_t>(examples.size()), outputs});
  }
};

TEST(FaithfulnessStudy, MapsThatAreNotDenseAreNotJudged) {
  OtherPredictor predictor;
  predictor.other.name = "glimpses";
  predictor.other.layout = MapLayout::Points;
  predictor.other.weights = torch::zeros({1, 1, 2, 3});
  const Example example = example_of(kInput);
  const Faithfulness result = measure_faithfulness(predictor, {&example, 1}).at(0);
  EXPECT_EQ(result.trust, "unknown");
  EXPECT_TRUE(has_note(result, "layout points"));
}

TEST(FaithfulnessStudy, NothingIsSaidOfExamplesWithoutOutput) {
  OtherPredictor predictor;
  predictor.outputs = 0;
  predictor.other.name = "attention";
  predictor.other.weights = torch::zeros({1, 1, 0, 4});
  const Example example = example_of(kInput);
  EXPECT_TRUE(measure_faithfulness(predictor, {&example, 1}).empty());
}

TEST(FaithfulnessStudy, OtherErrorsOfErasingAreNotHidden) {
  struct Failing : LinearPredictor {
    Failing() : LinearPredictor(four_units()) {}
    Example erase(const Example&, const std::string&, std::span<const int64_t>) const override {
      fail(ErrorKind::BadData, "damaged");
    }
  };
  const Example example = example_of(kInput);
  testing::expect_error(ErrorKind::BadData, "damaged", [&] {
    measure_faithfulness(Failing(), {&example, 1});
  });
}

TEST(FaithfulnessStudy, KeysThatAreNotTheUnitsOfTheirAxisCannotBeTakenAway) {
  Example example = example_of(kInput);
  example.axes[0].labels.pop_back();
  const Faithfulness result = measure(four_units(), example);
  EXPECT_FALSE(find(result, "comprehensiveness").value);
  EXPECT_TRUE(has_note(result, "4 keys, but the axis 'units' has 3 units"));
}

TEST(FaithfulnessStudy, ReplaysAreBatchedAndBuildNoGraph) {
  LinearPredictor predictor{torch::full({1, 1, 300}, 1.0 / 300, torch::kFloat64),
                            torch::ones({300}, torch::kFloat64)};
  const Faithfulness result = measure(predictor, example_of(Numbers(300, 1)), {});
  EXPECT_EQ(predictor.counts->most_rows, 256);
  EXPECT_EQ(predictor.counts->calls_with_graph, 1);  // the gradient
  EXPECT_LE(predictor.counts->calls, 2 + predictor.counts->rows / 256 + 4);
  EXPECT_FALSE(find(result, "tau with gradient x input").value);  // all weights are equal
}

TEST(FaithfulnessStudy, SameSeedSameFiguresAtAnyNumberOfThreads) {
  const auto examples = random_examples(12, 6);
  const LinearPredictor predictor{torch::softmax(torch::arange(6, torch::kFloat64), 0),
                                  torch::ones({6}, torch::kFloat64)};
  FaithfulnessOptions options;
  int64_t told = 0;
  options.progress = [&](int64_t done) { told = done; };
  set_threads(1);
  const Faithfulness one = measure_faithfulness(predictor, examples, options).at(0);
  set_threads(3);
  const Faithfulness three = measure_faithfulness(predictor, examples, options).at(0);
  set_threads(1);
  EXPECT_EQ(told, 12);
  ASSERT_EQ(one.measures.size(), three.measures.size());
  for (size_t i = 0; i < one.measures.size(); ++i) {
    EXPECT_EQ(one.measures[i].value, three.measures[i].value) << one.measures[i].name;
    EXPECT_EQ(one.measures[i].baseline, three.measures[i].baseline);
  }
  EXPECT_EQ(one.verdict, three.verdict);
  options.seed = 1;
  const Faithfulness other = measure_faithfulness(predictor, examples, options).at(0);
  EXPECT_NE(find(one, "comprehensiveness").baseline, find(other, "comprehensiveness").baseline);
}

TEST(FaithfulnessStudy, VerdictsOfNetworksThatAreKnown) {
  const auto examples = random_examples(40, 8);
  const auto weights = torch::softmax(torch::arange(8, torch::kFloat64), 0);
  LinearPredictor honest{weights, torch::ones({8}, torch::kFloat64)};
  honest.untrained = weights.flip(0);
  const Faithfulness supported = measure_faithfulness(honest, examples).at(0);
  EXPECT_EQ(supported.trust, "supported") << supported.verdict;
  EXPECT_NE(supported.verdict.find("times as much as taking away random units"), std::string::npos);
  EXPECT_NE(supported.verdict.find("shows what the model used for these 40 examples."),
            std::string::npos);

  honest.untrained = weights;  // training changed nothing
  EXPECT_EQ(measure_faithfulness(honest, examples).at(0).trust, "unsupported");

  LinearPredictor deaf{weights, torch::ones({8}, torch::kFloat64)};
  deaf.uses_weights = false;
  const Faithfulness unused = measure_faithfulness(deaf, examples).at(0);
  EXPECT_EQ(unused.trust, "unsupported") << unused.verdict;
  EXPECT_NE(unused.verdict.find("Shuffling"), std::string::npos);

  LinearPredictor misleading{weights, torch::exp(-2 * torch::arange(8, torch::kFloat64))};
  misleading.untrained = weights.flip(0);
  const Faithfulness wrong = measure_faithfulness(misleading, examples).at(0);
  EXPECT_EQ(wrong.trust, "unsupported") << wrong.verdict;
  EXPECT_NE(wrong.verdict.find("no more than taking away random units"), std::string::npos);

  const LinearPredictor two{to_numbers({0.9, 0.1}), torch::ones({2}, torch::kFloat64)};
  EXPECT_EQ(measure_faithfulness(two, random_examples(5, 2)).at(0).trust, "unknown");
}

TEST(FaithfulnessStudy, RefusesNothingAndOptionsThatCannotWork) {
  const LinearPredictor predictor = four_units();
  const Example example = example_of(kInput);
  testing::expect_error(ErrorKind::InvalidArgument, "found none",
                        [&] { measure_faithfulness(predictor, {}); });
  const auto refuse = [&](const char* word, const std::function<void(FaithfulnessOptions&)>& set) {
    FaithfulnessOptions options;
    set(options);
    testing::expect_error(ErrorKind::InvalidArgument, word, [&] {
      measure_faithfulness(predictor, {&example, 1}, options);
    });
  };
  refuse("bin", [](FaithfulnessOptions& o) { o.bins = {0}; });
  refuse("bin", [](FaithfulnessOptions& o) { o.bins = {1.5}; });
  refuse("points", [](FaithfulnessOptions& o) { o.curve_points = 1; });
  refuse("-1 permutations", [](FaithfulnessOptions& o) { o.permutations = -1; });
  refuse("0 rows", [](FaithfulnessOptions& o) { o.most_rows = 0; });
  const Example broken = example_of({1, std::nan(""), 1, 1});
  testing::expect_error(ErrorKind::Unsupported, "not finite", [&] {
    measure_faithfulness(predictor, {&broken, 1});
  });
}

}  // namespace
}  // namespace fovea::study_test
