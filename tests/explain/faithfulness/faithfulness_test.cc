#include "fovea/explain/faithfulness/faithfulness.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/stop.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/faithfulness/measuring.h"

namespace fovea::faithfulness_test {
namespace {

TEST(Faithfulness, ComprehensivenessAndSufficiencyOfNumbers) {
  const Faithfulness result = measure(four_units(), example_of(kInput));
  // Without 1 and 2 units of largest weight: 0.4 and 1.0 less; with them alone: 1.2 and 0.6 less.
  EXPECT_NEAR(value_of(result, "comprehensiveness"), 0.7, 1e-12);
  EXPECT_NEAR(value_of(result, "sufficiency"), 0.9, 1e-12);
  EXPECT_EQ(result.map, "attention");
  EXPECT_EQ(result.examples, 1);
  EXPECT_EQ(result.output, "value, in the network's own units: absolute change");
  EXPECT_FALSE(find(result, "comprehensiveness").interval.has_value());
}

TEST(Faithfulness, StopsBetweenReplaysWhenItIsNotWantedAnyMore) {
  int whole = 0;
  {
    const StopScope counting([&] { return ++whole < 0; });
    measure(four_units(), example_of(kInput));
  }
  EXPECT_GT(whole, 3);
  int asked = 0;
  const StopScope scope([&] { return ++asked == 2; });
  EXPECT_THROW(measure(four_units(), example_of(kInput)), Stopped);
  EXPECT_EQ(asked, 2);
}

TEST(Faithfulness, ProbabilitiesFallAndMayRise) {
  const Faithfulness result = measure(four_units_of_probability(), example_of(kInput));
  EXPECT_NEAR(value_of(result, "comprehensiveness"), 0.07, 1e-9);
  EXPECT_NEAR(value_of(result, "sufficiency"), 0.09, 1e-9);
  EXPECT_EQ(result.output, "probability of the answer");
  expect_near(series_of(result, 0, "attention"), {0.16, 0.12, 0.06, 0.04, 0});

  // The unit of largest weight speaks against the answer: without it the probability rises.
  LinearPredictor against = four_units_of_probability();
  against.effect = to_numbers({-0.1, 0.1, 0.1, 0.1});
  against.bias = 0.5;
  FaithfulnessOptions options = options_of_tests();
  options.bins = {0.25};
  options.curve_points = 0;
  EXPECT_NEAR(value_of(measure(against, example_of(kInput), options), "comprehensiveness"), -0.04,
              1e-9);
}

TEST(Faithfulness, CurvesFollowEachOrder) {
  const Faithfulness result = measure(four_units(), example_of(kInput));
  ASSERT_EQ(result.curves.size(), 2u);
  EXPECT_EQ(result.curves[0].name, "deletion");
  EXPECT_EQ(result.curves[1].name, "insertion");
  expect_near(result.curves[0].x, {0, 0.25, 0.5, 0.75, 1});
  expect_near(series_of(result, 0, "attention"), {0, 0.4, 1.0, 1.2, 1.6});
  expect_near(series_of(result, 1, "attention"), {1.6, 1.2, 0.6, 0.4, 0});
  // Parts 0.4 0.6 0.2 0.4: the second unit first, two alike, the third unit last.
  for (const char* source : {"gradient x input", "leave one out"}) {
    expect_near(series_of(result, 0, source), {0, 0.6, 1.0, 1.4, 1.6});
    expect_near(series_of(result, 1, source), {1.6, 1.0, 0.6, 0.2, 0});
  }
  EXPECT_NEAR(value_of(result, "deletion area"), 0.25 * (0.4 + 1.0 + 1.2 + 0.8), 1e-12);
  EXPECT_NEAR(value_of(result, "insertion area"), 0.25 * (0.8 + 1.2 + 0.6 + 0.4), 1e-12);
  EXPECT_EQ(find(result, "deletion area").better, "higher");  // curves of numbers show the change
  EXPECT_EQ(find(measure(four_units_of_probability(), example_of(kInput)), "deletion area").better,
            "lower");
}

TEST(Faithfulness, RandomRationalesAreTheBaseline) {
  FaithfulnessOptions options = options_of_tests();
  options.random_rationales = 2000;
  const Faithfulness result = measure(four_units(), example_of(kInput), options);
  // A random quarter holds a quarter of 1.6, a random half a half.
  EXPECT_NEAR(find(result, "comprehensiveness").baseline.value(), 0.6, 0.02);
  EXPECT_NEAR(find(result, "sufficiency").baseline.value(), 1.0, 0.02);
  EXPECT_NEAR(find(result, "deletion area").baseline.value(), 0.8, 0.02);
  const Numbers by_chance = series_of(result, 0, "random");
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(by_chance[i], 0.4 * double(i), 0.03);
  EXPECT_NEAR(find(result, "top weight zeroed").value.value(), 0.4, 1e-9);
}

TEST(Faithfulness, KendallsTauWithGradientsAndLeaveOneOut) {
  const Faithfulness result = measure(four_units(), example_of(kInput));
  // Weights 0.4 0.3 0.2 0.1 against 0.4 0.6 0.2 0.4: 3 pairs alike, 2 not, 1 tied.
  EXPECT_NEAR(value_of(result, "tau with gradient x input"), 1 / std::sqrt(30.0), 1e-9);
  EXPECT_NEAR(value_of(result, "tau with leave one out"), 1 / std::sqrt(30.0), 1e-9);
  EXPECT_EQ(find(result, "tau with leave one out").baseline, 0.0);
}

TEST(Faithfulness, GradientsStopAtTheWeights) {
  LinearPredictor predictor = four_units();
  predictor.weights_follow_input = true;
  EXPECT_NEAR(value_of(measure(predictor, example_of(kInput)), "tau with gradient x input"),
              1 / std::sqrt(30.0), 1e-9);
}

TEST(Faithfulness, ARationaleHasAtLeastOneUnit) {
  FaithfulnessOptions options = options_of_tests();
  options.bins = {0.01};
  EXPECT_NEAR(value_of(measure(four_units(), example_of(kInput), options), "comprehensiveness"),
              0.4, 1e-12);
}

TEST(Faithfulness, PermutedAttentionIsAMedian) {
  // The last unit alone counts, and two permutations in three leave it its weight.
  const LinearPredictor predictor{to_numbers({0.8, 0.1, 0.1}), torch::ones({3}, torch::kFloat64)};
  EXPECT_NEAR(value_of(measure(predictor, example_of({0, 0, 10})), "permuted attention"), 0, 1e-9);
}

TEST(Faithfulness, GradientsAddUpOverTheInputsOfAUnit) {
  // The first two inputs belong to unit 0, the others to unit 1.
  LinearPredictor predictor = four_units();
  predictor.unit_of = {0, 0, 1, 1};
  // Weights 0.4 0.3 0.2 0.1 against 1.0 0.6 0 0: 5 pairs alike, 1 tied.
  EXPECT_NEAR(value_of(measure(predictor, example_of(kInput)), "tau with gradient x input"),
              5 / std::sqrt(30.0), 1e-9);
  predictor.unit_of = {0, 0, 1, 4};  // no such unit
  EXPECT_FALSE(find(measure(predictor, example_of(kInput)), "tau with gradient x input").value);
}

TEST(Faithfulness, ChangedWeights) {
  FaithfulnessOptions options = options_of_tests();
  options.permutations = 3001;
  options.random_rationales = 500;
  const Faithfulness result = measure(four_units(), example_of(kInput), options);
  EXPECT_NEAR(value_of(result, "uniform attention"), 0.4, 1e-12);  // 2.0 - 1.6
  // 0.3 0.2 0.1 of 0.6 without the first weight: 1 + 1/3 + 2/3.
  EXPECT_NEAR(value_of(result, "top weight zeroed"), 0.4, 1e-12);
  Numbers ranking = kWeights, changes;
  std::sort(ranking.begin(), ranking.end());
  do {
    changes.push_back(
        std::abs(std::inner_product(ranking.begin(), ranking.end(), kInput.begin(), 0.0) - 1.6));
  } while (std::next_permutation(ranking.begin(), ranking.end()));
  std::sort(changes.begin(), changes.end());
  EXPECT_NEAR(value_of(result, "permuted attention"), (changes[11] + changes[12]) / 2, 0.051);
  // Without the second, third or fourth weight: |1.0 / 0.7 - 1.6|, |1.4 / 0.8 - 1.6|, |1.2 / 0.9
  // - 1.6|.
  const double by_chance = (0.6 / 3.5 + 0.15 + 0.8 / 3) / 3;
  EXPECT_NEAR(find(result, "top weight zeroed").baseline.value(), by_chance, 0.02);
}

TEST(Faithfulness, OutputUnitsAreJudgedRowByRow) {
  for (const bool step_by_step : {false, true}) {
    LinearPredictor predictor{
        torch::stack({to_numbers({0.7, 0.2, 0.1}), to_numbers({0.1, 0.2, 0.7})}).unsqueeze(0),
        torch::full({3}, 0.5, torch::kFloat64)};
    predictor.numbers = false;
    predictor.rows_are_outputs = true;
    predictor.step_by_step = step_by_step;
    FaithfulnessOptions options = options_of_tests();
    options.bins = {0.34};
    const Faithfulness result = measure(predictor, example_of({1, 1, 1}), options);
    // Each row loses its own unit of weight 0.7; the mean of both rows would lose 0.2 on average.
    EXPECT_NEAR(value_of(result, "comprehensiveness"), 0.35, 1e-9);
    EXPECT_NEAR(value_of(result, "sufficiency"), 0.15, 1e-9);
    EXPECT_NEAR(value_of(result, "tau with gradient x input"), 1, 1e-12);
    EXPECT_NEAR(value_of(result, "tau with leave one out"), 1, 1e-12);
    EXPECT_NEAR(value_of(result, "uniform attention"), 0, 1e-12);
    EXPECT_EQ(result.output, "probability of each unit of the answer");

    predictor.rows_are_outputs = false;  // one claim: 0.4 0.2 0.4
    EXPECT_NEAR(value_of(measure(predictor, example_of({1, 1, 1}), options), "comprehensiveness"),
                0.2, 1e-9);
  }
}

TEST(Faithfulness, HeadsAreAveragedAndSignedWeightsCountBySize) {
  LinearPredictor heads{torch::tensor({{{0.6, 0.4, 0.0}}, {{0.0, 0.6, 0.4}}}, torch::kFloat64),
                        torch::ones({3}, torch::kFloat64)};
  FaithfulnessOptions options = options_of_tests();
  options.bins = {0.34};
  EXPECT_NEAR(value_of(measure(heads, example_of({1, 1, 1}), options), "comprehensiveness"), 0.5,
              1e-12);
  LinearPredictor free{to_numbers({-0.9, 0.5, 0.1}), torch::ones({3}, torch::kFloat64)};
  free.kind = MapKind::Free;
  const Faithfulness result = measure(free, example_of({1, 1, 1}), options);
  EXPECT_NEAR(value_of(result, "comprehensiveness"), 0.9, 1e-12);
  EXPECT_NEAR(value_of(result, "top weight zeroed"), 0.9, 1e-12);  // nothing to renormalise
}

TEST(Faithfulness, AgreementWithWhatIsKnownToMatter) {
  Example example = example_of(kInput);
  EXPECT_EQ(measure(four_units(), example).measures.size(), 10u);
  example.truth["attention"] = torch::tensor({{0, 1, 1, 0}});
  FaithfulnessOptions options = options_of_tests();
  options.random_rationales = 1000;
  const Faithfulness result = measure(four_units(), example, options);
  EXPECT_NEAR(value_of(result, "AUPRC"), (1.0 / 2 + 2.0 / 3) / 2, 1e-12);
  EXPECT_GE(value_of(result, "AUPRC of gradient x input"), 0.5);
  EXPECT_NEAR(value_of(result, "token F1"), 0.5, 1e-12);  // the units 0 and 1 are chosen
  EXPECT_NEAR(value_of(result, "IOU F1"), 0, 1e-12);      // 1 of 3
  EXPECT_NEAR(find(result, "token F1").baseline.value(), 0.5, 0.03);
  EXPECT_NEAR(find(result, "AUPRC").baseline.value(), (2.083333 + (4 - 2.083333) / 3) / 4, 0.03);
  example.truth["attention"] = torch::ones({3, 4});
  EXPECT_TRUE(has_note(measure(four_units(), example), "belongs to another output"));
}

TEST(Faithfulness, UntrainedNetworkIsAControl) {
  LinearPredictor predictor = four_units();
  predictor.untrained = to_numbers({0.1, 0.2, 0.3, 0.4});
  EXPECT_NEAR(value_of(measure(predictor, example_of(kInput)), "tau with untrained network"), -1,
              1e-12);
  predictor.has_untrained = false;
  const Faithfulness result = measure(predictor, example_of(kInput));
  EXPECT_FALSE(find(result, "tau with untrained network").value);
  EXPECT_TRUE(has_note(result, "no untrained network"));
}

TEST(Faithfulness, IntervalsOverExamples) {
  const std::vector<Example> examples{example_of(kInput), example_of({2, 4, 2, 8}),
                                      example_of({3, 6, 3, 12})};
  const auto result = measure_faithfulness(four_units(), examples, options_of_tests()).at(0);
  const FaithfulnessMeasure measure = find(result, "comprehensiveness");
  EXPECT_NEAR(*measure.value, 1.4, 1e-12);  // 0.7, 1.4, 2.1
  EXPECT_NEAR(measure.interval.value()[0], 1.4 - 4.302652730 * 0.7 / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(measure.interval.value()[1], 1.4 + 4.302652730 * 0.7 / std::sqrt(3.0), 1e-6);
  EXPECT_EQ(result.examples, 3);
}

}  // namespace
}  // namespace fovea::faithfulness_test
