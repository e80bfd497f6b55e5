#include "fovea/metrics/forecast.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::forecast_test {
namespace {

double value_of(const Metrics& metrics, const std::string& name) {
  for (const Metric& metric : metrics)
    if (metric.name == name) return metric.value;
  throw std::runtime_error("no metric " + name);
}

TEST(Forecast, ErrorsInUnitsByStepAndSeries) {
  // Two windows, two steps ahead, one series whose deviation is 10.
  const at::Tensor target = torch::tensor({0.f, 0.f, 1.f, 1.f}).view({2, 2, 1});
  const at::Tensor predicted = torch::tensor({1.f, 0.f, 1.f, 4.f}).view({2, 2, 1});
  const at::Tensor deviation = torch::full({2, 1}, 10.);
  ForecastErrors errors;
  errors.add(predicted, target, deviation, target - 1, predicted);
  const Metrics metrics = errors.metrics();
  EXPECT_DOUBLE_EQ(value_of(metrics, "mae"), 10);
  EXPECT_DOUBLE_EQ(value_of(metrics, "rmse"), std::sqrt(250.));
  EXPECT_DOUBLE_EQ(value_of(metrics, "mse_standardised"), 2.5);
  EXPECT_DOUBLE_EQ(value_of(metrics, "mae_standardised"), 1);
  EXPECT_DOUBLE_EQ(value_of(metrics, "r2"), 1 - 2.5 / 0.25);
  EXPECT_DOUBLE_EQ(value_of(metrics, "coverage"), 1);
  EXPECT_DOUBLE_EQ(value_of(metrics, "width"), 20);
  EXPECT_DOUBLE_EQ(errors.mean_absolute()[0][0].item<double>(), 5);
  EXPECT_DOUBLE_EQ(errors.mean_absolute()[1][0].item<double>(), 15);
  EXPECT_DOUBLE_EQ(errors.mean_squared()[1][0].item<double>(), 450);

  ForecastErrors parts, second;
  parts.add(predicted.narrow(0, 0, 1), target.narrow(0, 0, 1), deviation.narrow(0, 0, 1));
  second.add(predicted.narrow(0, 1, 1), target.narrow(0, 1, 1), deviation.narrow(0, 1, 1));
  parts.add(second);
  EXPECT_DOUBLE_EQ(value_of(parts.metrics(), "mse_standardised"), 2.5);
  EXPECT_THROW(value_of(parts.metrics(), "coverage"), std::runtime_error);
  EXPECT_THROW(ForecastErrors().metrics(), Error);
}

TEST(Forecast, SeasonalNaiveRepeatsTheLastSeason) {
  const at::Tensor source = torch::arange(5, torch::kFloat).view({1, 5, 1});
  const auto at = [&](int64_t season) { return seasonal_naive(source, {0}, season, 4).flatten(); };
  EXPECT_TRUE(at(3).equal(torch::tensor({2.f, 3.f, 4.f, 2.f})));
  EXPECT_TRUE(at(1).equal(torch::full({4}, 4.f)));
  EXPECT_TRUE(at(9).equal(torch::full({4}, 4.f)));  // longer than the window
  EXPECT_TRUE(seasonal_naive(source, {-1, 0}, 1, 1).flatten().equal(torch::tensor({0.f, 4.f})));
}

TEST(Forecast, TheLinearBaselineFindsALinearRule) {
  const Random random(5);
  const at::Tensor x = random.normal_tensor({400, 6, 2}, 3, 1, torch::kFloat);
  // Each series: the mean of its window, and twice how far the last step is from it.
  const at::Tensor mean = x.mean(1, true);
  const at::Tensor y = torch::cat({mean + 2 * (x.narrow(1, 5, 1) - mean), mean}, 1);  // [B, 2, 2]
  LinearForecast linear(6, 2);
  linear.add(x.narrow(0, 0, 250), y.narrow(0, 0, 250), {0, 1});
  linear.add(x.narrow(0, 250, 150), y.narrow(0, 250, 150), {0, 1});
  const at::Tensor found = LinearForecast::forecast(linear.solve(), x, {0, 1});
  EXPECT_LT((found - y).abs().max().item<double>(), 0.05);
  EXPECT_FALSE(LinearForecast(3, 1).solve().defined());
}

}  // namespace
}  // namespace fovea::forecast_test
