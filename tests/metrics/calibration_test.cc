#include "fovea/metrics/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/tensor/torch.h"
#include "tests/metrics/golden.h"
#include "tests/support/expect_error.h"

namespace fovea::calibration_test {
namespace {

using testing::expect_error;

at::Tensor numbers(std::initializer_list<double> values) {
  return torch::tensor(std::vector<double>(values), at::kDouble);
}

TEST(Calibration, AveragePrecisionByHand) {
  // Taken by falling score: 1 (1/1), 0, 1 (2/3), 1 (3/4), 0.
  const at::Tensor scores = numbers({0.2, 0.9, 0.5, 0.7, 0.8}), targets = numbers({0, 1, 1, 1, 0});
  EXPECT_NEAR(*average_precision(scores, targets), (1.0 + 2.0 / 3 + 3.0 / 4) / 3, 1e-12);
  EXPECT_NEAR(*average_precision(scores, targets.to(at::kLong)), (1.0 + 2.0 / 3 + 3.0 / 4) / 3,
              1e-12);
  EXPECT_EQ(*average_precision(numbers({0.1, 0.9}), numbers({0, 1})), 1);
}

TEST(Calibration, EqualScoresAreFoundAtOnce) {
  EXPECT_NEAR(*average_precision(numbers({0.5, 0.5, 0.5, 0.5}), numbers({0, 1, 0, 0})), 0.25, 1e-12)
      << "whatever their order";
  EXPECT_NEAR(*average_precision(numbers({0.5, 0.5, 0.9}), numbers({1, 0, 1})),
              0.5 * 1 + 0.5 * (2.0 / 3), 1e-12);
}

TEST(Calibration, WhatIsNotDefinedIsEmpty) {
  EXPECT_FALSE(average_precision(numbers({0.5, 0.1}), numbers({0, 0})));
  EXPECT_FALSE(average_precision(numbers({0.5, std::nan("")}), numbers({0, 1})));
}

TEST(Calibration, BrierByHand) {
  EXPECT_NEAR(brier_score(numbers({0.9, 0.2, 0.5}), numbers({1, 0, 1})), (0.01 + 0.04 + 0.25) / 3,
              1e-12);
  EXPECT_NEAR(brier_score(numbers({0.5, 0.5}), numbers({1, 0})), 0.25, 1e-12);
}

TEST(Calibration, BinsSayWhatWasSaidAndWhatHappened) {
  const at::Tensor scores = numbers({0.05, 0.15, 0.1, 1.0, 0.95}),
                   targets = numbers({0, 1, 0, 1, 0});
  const auto bins = calibration_bins(scores, targets, 10);
  ASSERT_EQ(bins.size(), 10u);
  EXPECT_EQ(bins[0].rows, 1);
  EXPECT_EQ(bins[1].rows, 2) << "0.1 begins the second bin";
  EXPECT_EQ(bins[9].rows, 2) << "1 belongs to the last bin";
  EXPECT_NEAR(bins[1].said, 0.125, 1e-12);
  EXPECT_NEAR(bins[1].happened, 0.5, 1e-12);
  EXPECT_NEAR(expected_calibration_error(scores, targets, 10),
              (0.05 + 2 * 0.375 + 2 * std::abs(0.975 - 0.5)) / 5, 1e-12);
  EXPECT_NEAR(expected_calibration_error(scores, targets, 1),
              std::abs((0.05 + 0.15 + 0.1 + 1.0 + 0.95) / 5 - 0.4), 1e-12);
}

TEST(Calibration, ANaNSpoilsTheError) {
  EXPECT_TRUE(
      std::isnan(expected_calibration_error(numbers({std::nan(""), 0.5}), numbers({1, 0}))));
  EXPECT_TRUE(std::isnan(brier_score(numbers({std::nan(""), 0.5}), numbers({1, 0}))));
}

TEST(Calibration, RefusesWhatIsNoProbability) {
  const auto refused = [](const char* word, const at::Tensor& scores, const at::Tensor& targets) {
    expect_error(ErrorKind::InvalidArgument, word, [&] { brier_score(scores, targets); });
  };
  refused("expected 0 to 1", numbers({1.5}), numbers({1}));
  refused("expected 0 or 1", numbers({0.5}), numbers({2}));
  refused("as many targets", numbers({0.5, 0.5}), numbers({1}));
  refused("at least one row", numbers({}), numbers({}));
  expect_error(ErrorKind::InvalidArgument, "bins",
               [] { calibration_bins(numbers({0.5}), numbers({1}), 0); });
}

TEST(Calibration, OfSeveralClassesAsScikitLearnHasIt) {
  const Json several = golden("classes");
  const at::Tensor scores = tensor_of(several["scores"]);
  const at::Tensor targets = tensor_of(several["targets"]).to(at::kLong);
  EXPECT_NEAR(*macro_average_precision(scores, targets), 0.8441561940190725, 1e-12);
  EXPECT_NEAR(brier_score_of_classes(scores, targets), 0.38734019809085235, 1e-12);
  EXPECT_NEAR(calibration_error_of_classes(scores, targets), 0.13273435600267042, 1e-12);
  const at::Tensor two = torch::tensor({{0.1, 0.9}, {0.8, 0.2}, {0.5, 0.5}}, at::kDouble);
  EXPECT_NEAR(brier_score_of_classes(two, torch::tensor({1, 0, 1})), (0.01 + 0.04 + 0.25) / 3,
              1e-12);
}

}  // namespace
}  // namespace fovea::calibration_test
