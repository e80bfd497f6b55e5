#include "fovea/data/tables/target_transform.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::target_transform_test {
namespace {

std::vector<double> normal_numbers(int64_t count) {
  const at::Tensor drawn =
      Random(5).normal_tensor({count}, 0, 1, torch::kFloat).to(torch::kFloat64);
  return {drawn.data_ptr<double>(), drawn.data_ptr<double>() + count};
}

/// exp(1.2 z): incomes, prices, counts.
std::vector<double> skewed_numbers(int64_t count) {
  std::vector<double> numbers = normal_numbers(count);
  for (double& number : numbers) number = std::exp(1.2 * number);
  return numbers;
}

std::vector<double> back(const TargetTransform& transform, const std::vector<double>& encoded) {
  const at::Tensor decoded =
      transform.decode(torch::tensor(encoded, torch::kFloat64)).contiguous();  // [N]
  return {decoded.data_ptr<double>(), decoded.data_ptr<double>() + decoded.numel()};
}

TEST(TargetTransform, ComesBackAndGrows) {
  const std::vector<double> numbers = skewed_numbers(2000);
  // Beyond the training numbers, too: evaluated rows may hold any.
  const std::vector<double> asked{1e-4, 0.01, 0.5, 1, 2, 7.25, 40, 5000};
  for (const char* name : {"none", "log", "quantile"}) {
    const TargetTransform fitted = TargetTransform::fit(name, numbers, "y");
    for (const TargetTransform& transform :
         {fitted, TargetTransform::from_json(Field::root(fitted.to_json(), "columns.json"))}) {
      std::vector<double> encoded;
      for (const double number : asked) encoded.push_back(transform.encode(number));
      const std::vector<double> again = back(transform, encoded);
      for (size_t i = 0; i < asked.size(); ++i) {
        EXPECT_NEAR(again[i], asked[i], 1e-9 * std::max(1.0, asked[i])) << name;
        EXPECT_TRUE(i == 0 || encoded[i] > encoded[i - 1]) << name;
      }
    }
  }
}

TEST(TargetTransform, QuantilesAreNormalScoresAlsoWithTies) {
  std::vector<double> numbers = skewed_numbers(2000);
  for (size_t i = 0; i < 700; ++i) numbers[i] = 0;
  const TargetTransform transform = TargetTransform::fit("quantile", numbers, "y");
  double sum = 0, squares = 0;
  for (const double number : numbers) {
    const double z = transform.encode(number);
    EXPECT_TRUE(std::isfinite(z));
    sum += z, squares += z * z;
  }
  EXPECT_NEAR(sum / 2000, 0, 1e-9);
  EXPECT_NEAR(squares / 2000, 1, 1e-9);
  EXPECT_NEAR(back(transform, {transform.encode(0)})[0], 0, 1e-9);
}

TEST(TargetTransform, AutoTakesTheLogarithmOfVerySkewedNumbersAlone) {
  const auto chosen = [](const std::vector<double>& numbers) {
    return TargetTransform::fit("auto", numbers, "y").name();
  };
  std::vector<double> counts = skewed_numbers(1000), debts = counts, prices = normal_numbers(1000);
  EXPECT_EQ(chosen(counts), "log");
  for (double& count : counts) count = std::floor(count);  // 0 among them
  EXPECT_EQ(chosen(counts), "log");
  debts[3] = -1;
  EXPECT_EQ(chosen(debts), "none");
  EXPECT_EQ(chosen(prices), "none");
  for (double& price : prices) price = std::exp(0.4 * price);  // skewness 1.3
  EXPECT_EQ(chosen(prices), "none");
}

TEST(TargetTransform, APredictionStaysNearTheTrainingNumbers) {
  const std::vector<double> numbers{1, 10, 100, 1000};
  const TargetTransform transform = TargetTransform::fit("log", numbers, "y");
  const at::Tensor wild = torch::tensor({50.0, -50.0});
  EXPECT_LT(transform.decode_prediction(wild)[0].item<double>(), 20'000);
  EXPECT_GT(transform.decode_prediction(wild)[1].item<double>(), 0.05);
  EXPECT_NEAR(transform.decode_prediction(torch::zeros({1})).item<double>(), std::pow(10, 1.5),
              1e-6);
}

TEST(TargetTransform, WhatCannotBeIsRefused) {
  testing::expect_error(ErrorKind::BadData, "below 0", [] {
    TargetTransform::fit("log", std::vector<double>{-1, 2, 3}, "y");
  });
  EXPECT_FALSE(
      std::isfinite(TargetTransform::fit("log", std::vector<double>{1, 2, 3}, "y").encode(-3)));
  Json json = TargetTransform::fit("quantile", std::vector<double>{1, 2, 3}, "y").to_json();
  json["knots"] = {3, 2, 1};
  testing::expect_error(ErrorKind::BadData, "ascending",
                        [&] { TargetTransform::from_json(Field::root(json, "columns.json")); });
  json = TargetTransform::fit("log", std::vector<double>{1, 2, 3}, "y").to_json();
  json["name"] = "root";
  testing::expect_error(ErrorKind::BadData, "none, log or quantile",
                        [&] { TargetTransform::from_json(Field::root(json, "columns.json")); });
}

}  // namespace
}  // namespace fovea::target_transform_test
