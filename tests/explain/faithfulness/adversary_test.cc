#include "fovea/explain/faithfulness/adversary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/explain/faithfulness/measuring.h"

namespace fovea::adversary_test {
namespace {

using faithfulness::jensen_shannon;

FaithfulnessOptions with_steps(int64_t steps) {
  FaithfulnessOptions options = options_of_tests();
  options.adversary_steps = steps;
  return options;
}

TEST(Adversary, DivergenceOfRows) {
  const at::Tensor one = to_numbers({0.4, 0.3, 0.2, 0.1}), other = to_numbers({0, 0, 0, 1});
  const double expected =
      0.5 * (0.9 * std::log(2.0) + 0.1 * std::log(0.1 / 0.55)) + 0.5 * std::log(1 / 0.55);
  EXPECT_NEAR(jensen_shannon(one, other).item<double>(), expected, 1e-12);
  EXPECT_NEAR(jensen_shannon(other, one).item<double>(), expected, 1e-12);
  EXPECT_EQ(jensen_shannon(one, one).item<double>(), 0);
  EXPECT_NEAR(jensen_shannon(to_numbers({1, 0}), to_numbers({0, 1})).item<double>(), std::log(2.0),
              1e-12)
      << "the largest there is";
}

TEST(Adversary, WeightsThatDoNotMatterMayBeAnything) {
  // All units say the same: the answer stays, wherever the weights lie. The farthest is all on the
  // unit that had least.
  const Faithfulness result =
      measure(four_units_of_probability(), example_of({1, 1, 1, 1}), with_steps(300));
  const double farthest =
      jensen_shannon(to_numbers(kWeights), to_numbers({0, 0, 0, 1})).item<double>();
  EXPECT_GT(value_of(result, "adversarial attention"), 0.95 * farthest);
  EXPECT_LE(value_of(result, "adversarial attention"), farthest + 1e-9);
  EXPECT_EQ(find(result, "adversarial attention").better, "lower");
}

TEST(Adversary, TheAnswerStays) {
  // p is the weight of the last unit, 0.1; it may become 0.11 and no more.
  const Faithfulness result =
      measure(four_units_of_probability(), example_of({0, 0, 0, 10}), with_steps(500));
  const double farthest =
      jensen_shannon(to_numbers(kWeights), to_numbers({0, 0, 0.91, 0.09})).item<double>();
  EXPECT_GT(value_of(result, "adversarial attention"), 0.8 * farthest);
  EXPECT_LE(value_of(result, "adversarial attention"), farthest + 1e-6);
  // Two units, one of which decides: no other weights will do.
  LinearPredictor two{to_numbers({0.5, 0.5}), torch::full({2}, 0.1, torch::kFloat64)};
  two.numbers = false;
  EXPECT_LT(value_of(measure(two, example_of({0, 10}), with_steps(300)), "adversarial attention"),
            0.001);
}

TEST(Adversary, IsLookedForOnlyWhereItIsDefined) {
  EXPECT_THROW(
      find(measure(four_units_of_probability(), example_of(kInput)), "adversarial attention"),
      std::out_of_range)
      << "nobody asked";
  const Faithfulness numbers = measure(four_units(), example_of(kInput), with_steps(2));
  EXPECT_FALSE(find(numbers, "adversarial attention").value);
  EXPECT_TRUE(has_note(numbers, "adversarial attention"));
}

}  // namespace
}  // namespace fovea::adversary_test
