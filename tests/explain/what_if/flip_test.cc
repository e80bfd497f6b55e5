#include "fovea/explain/what_if/flip.h"

#include <gtest/gtest.h>

#include "fovea/base/stop.h"
#include "tests/explain/what_if/rule_predictor.h"
#include "tests/support/expect_error.h"

namespace fovea::flip_test {
namespace {

using testing::expect_error;
using Units = std::vector<int64_t>;

constexpr size_t kUnits = 8;

struct FlipTest : ::testing::Test {
  RulePredictor predictor;
  FlipOptions options;

  FlipTest() {
    predictor.falls.assign(kUnits, 0.01);
    options.answer = [](const Example&, const Prediction& prediction) {
      return prediction.scores[1].item<float>() > 0.5 ? "yes" : "no";
    };
  }
  Flip find() const {
    return find_flip(predictor, predictor.example(std::vector<std::string>(kUnits, "u")), options);
  }
};

TEST_F(FlipTest, OneUnitIsEnough) {
  predictor.says_yes = [](const Away& away) { return !away[5]; };
  const Flip flip = find();
  EXPECT_EQ(flip.away.axis, "units") << "the first axis whose units can be taken away";
  EXPECT_EQ(flip.away.units, Units{5});
  EXPECT_EQ(flip.most, int64_t(kUnits - 1)) << "one unit stays";
}

TEST_F(FlipTest, TwoUnitsThatStandInForEachOther) {
  predictor.says_yes = [](const Away& away) { return !(away[1] && away[2]); };
  predictor.falls[1] = predictor.falls[2] = 0.1;
  EXPECT_EQ(find().away.units, (Units{1, 2}));
}

TEST_F(FlipTest, WhatIsNotNeededIsLeftOutAgain) {
  // The probability leads astray, to 3 and 4; the answer rests on 0 and 7.
  predictor.says_yes = [](const Away& away) { return !(away[0] && away[7]); };
  predictor.falls = {0.05, 0.01, 0.01, 0.2, 0.15, 0.01, 0.01, 0.04};
  EXPECT_EQ(find().away.units, (Units{0, 7}));
}

TEST_F(FlipTest, NoUnitOfTheSetCanStay) {
  for (unsigned seed = 0; seed < 40; ++seed) {  // yes while weights of what is there reach a sum
    torch::manual_seed(seed);
    const at::Tensor drawn = torch::rand({int64_t(kUnits)}, torch::kDouble);
    double sum = 0;
    for (size_t i = 0; i < kUnits; ++i) {
      predictor.falls[i] = 0.1 * drawn[int64_t(i)].item<double>();
      sum += drawn[int64_t(i)].item<double>();
    }
    const auto there = [drawn](const Away& away) {
      double left = 0;
      for (size_t i = 0; i < kUnits; ++i) left += away[i] ? 0 : drawn[int64_t(i)].item<double>();
      return left;
    };
    predictor.says_yes = [there, sum](const Away& away) { return there(away) > 0.6 * sum; };
    const Flip flip = find();
    ASSERT_FALSE(flip.away.units.empty()) << seed;
    Away away(kUnits);
    for (const int64_t unit : flip.away.units) away[size_t(unit)] = true;
    EXPECT_FALSE(predictor.says_yes(away)) << seed;
    for (const int64_t unit : flip.away.units) {
      Away fewer = away;
      fewer[size_t(unit)] = false;
      EXPECT_TRUE(predictor.says_yes(fewer)) << seed << ": unit " << unit << " is not needed";
    }
  }
}

TEST_F(FlipTest, NothingIsFoundBeyondTheMost) {
  predictor.says_yes = [](const Away& away) { return !(away[1] && away[2]); };
  options.most = 1;
  const Flip flip = find();
  EXPECT_TRUE(flip.away.units.empty());
  EXPECT_EQ(flip.most, 1);
  EXPECT_EQ(flip.predictions, 2 + int64_t(2 * kUnits)) << "each unit was replayed and predicted";
  predictor.says_yes = [](const Away&) { return true; };
  options.most = 100;
  EXPECT_TRUE(find().away.units.empty());
}

TEST_F(FlipTest, TellsHowFarItIsAndCanBeStopped) {
  predictor.says_yes = [](const Away& away) { return !(away[1] && away[2] && away[3]); };
  int64_t told = 0;
  options.progress = [&](int64_t done, int64_t most) {
    EXPECT_GT(done, told);
    EXPECT_GE(most, done);
    told = done;
  };
  EXPECT_EQ(find().predictions, told);
  const StopScope scope([] { return true; });
  EXPECT_THROW(find(), Stopped);
}

TEST_F(FlipTest, OnlyAxesThatCanLoseUnits) {
  predictor.says_yes = [](const Away& away) { return !away[5]; };
  options.axis = "letters";
  expect_error(ErrorKind::Unsupported, "cannot be erased", [&] { find(); });
  options.axis = "unit";
  expect_error(ErrorKind::InvalidArgument, {"no axis 'unit'", "did you mean 'units'"},
               [&] { find(); });
}

TEST_F(FlipTest, TheOutputMayLengthenTheAxis) {
  predictor.says_yes = [](const Away& away) { return !away[5]; };
  predictor.written = 3;
  EXPECT_EQ(find().away.units, Units{5});
}

TEST_F(FlipTest, WhatTheModelAddsStays) {
  predictor.says_yes = [](const Away& away) { return !away[0] && !away[4]; };
  Example whole = predictor.example(std::vector<std::string>(kUnits, "u"));
  whole.axes[1].special = {0};
  EXPECT_EQ(find_flip(predictor, whole, options).away.units, Units{4});
}

}  // namespace
}  // namespace fovea::flip_test
