#include "fovea/data/tables/synthetic.h"

#include <cmath>

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::tables::synthetic_test {
namespace {

using Names = std::vector<std::string>;

FeaturesGeneratorOptions options(int64_t rows = 20000) {
  FeaturesGeneratorOptions options;
  options.rows = rows;
  return options;
}

double correlation(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.to(torch::kFloat64) - a.to(torch::kFloat64).mean(),
                   y = b.to(torch::kFloat64) - b.to(torch::kFloat64).mean();
  return ((x * y).sum() / (x.norm() * y.norm())).item<double>();
}

TEST(FeaturesGenerator, OnlyTheInformativeColumnsDecide) {
  const FeaturesDraw draw = draw_features(options());
  EXPECT_EQ(draw.table.names, (Names{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9"}));
  EXPECT_EQ(draw.informative, (Names{"x1", "x2"}));
  const at::Tensor x = draw.table.inputs, y = draw.table.labels;
  EXPECT_TRUE(
      torch::equal(y, (x.select(1, 1).to(torch::kFloat64) + x.select(1, 2).to(torch::kFloat64) > 0)
                          .to(torch::kLong)));
  for (int64_t column = 0; column < 10; ++column) {
    const double with_label = correlation(x.select(1, column), y);
    if (column == 1 || column == 2) {
      EXPECT_GT(with_label, 0.5) << column;
    } else {
      EXPECT_LT(std::abs(with_label), 0.03) << column;
    }
    for (int64_t other = 0; other < column; ++other)
      EXPECT_LT(std::abs(correlation(x.select(1, column), x.select(1, other))), 0.035)
          << column << " " << other;
  }
  EXPECT_LE(x.abs().max().item<float>(), 1);
  EXPECT_NEAR(x.var().item<float>(), 1.0 / 3, 0.01);
}

TEST(FeaturesGenerator, EveryLabelFunctionIsWhatItSays) {
  for (const LabelFunction& function : label_functions()) {
    SCOPED_TRACE(function.name);
    FeaturesGeneratorOptions drawn = options(5000);
    drawn.label = function.name;
    drawn.informative = 3;
    drawn.law = "normal";
    const FeaturesDraw draw = draw_features(drawn);
    const at::Tensor x = draw.table.inputs.to(torch::kFloat64);
    const at::Tensor x1 = x.select(1, 1), x2 = x.select(1, 2), x3 = x.select(1, 3);
    at::Tensor score = x1 + x2 + x3;
    if (function.name == "product") score = x1 * x2 * x3;
    if (function.name == "difference") score = x1 - (x2 + x3) / 2;
    if (function.name == "threshold") score = x1 + x2 + x3 - 1;
    if (function.name == "square")
      score = x1 * x1 + x2 + x3 - std::get<0>((x1 * x1 + x2 + x3).sort())[2500];
    EXPECT_GE((draw.table.labels == (score > 0).to(torch::kLong)).sum().item<int64_t>(),
              4999);  // ties may round either way
  }
}

TEST(FeaturesGenerator, Laws) {
  FeaturesGeneratorOptions drawn = options();
  drawn.law = "normal";
  EXPECT_NEAR(draw_features(drawn).table.inputs.var().item<float>(), 1, 0.02);
  drawn.law = "unit";
  drawn.label = "square";
  const at::Tensor unit = draw_features(drawn).table.inputs;
  EXPECT_GE(unit.min().item<float>(), 0);
  EXPECT_NEAR(unit.mean().item<float>(), 0.5, 0.01);
}

TEST(FeaturesGenerator, NoiseColumnsDoNotChangeTheRest) {
  FeaturesGeneratorOptions few = options(50), many = options(50);
  few.noise = 0;
  many.noise = 30;
  const FeaturesDraw without = draw_features(few), with = draw_features(many);
  EXPECT_EQ(without.table.names, (Names{"x1", "x2"}));
  EXPECT_EQ(with.table.inputs.size(1), 32);
  EXPECT_TRUE(torch::equal(without.table.inputs, with.table.inputs.slice(1, 1, 3)));
  EXPECT_TRUE(torch::equal(without.table.labels, with.table.labels));
}

TEST(FeaturesGenerator, TheSeedDecides) {
  FeaturesGeneratorOptions other = options(50);
  other.seed = 2;
  EXPECT_TRUE(torch::equal(draw_features(options(50)).table.inputs,
                           draw_features(options(50)).table.inputs));
  EXPECT_FALSE(
      torch::equal(draw_features(options(50)).table.inputs, draw_features(other).table.inputs));
}

TEST(FeaturesGenerator, ImpossibleOptions) {
  FeaturesGeneratorOptions bad = options();
  bad.informative = 11;
  expect_error(ErrorKind::InvalidArgument, {"11 informative columns of 10"},
               [&] { draw_features(bad); });
  bad = options();
  bad.label = "summ";
  expect_error(ErrorKind::InvalidArgument, {"'summ'", "did you mean 'sum'"},
               [&] { draw_features(bad); });
  bad = options();
  bad.law = "unit";
  expect_error(ErrorKind::InvalidArgument, {"'sum'", "'unit'", "1 in every row"},
               [&] { draw_features(bad); });
  bad = options(1);
  expect_error(ErrorKind::InvalidArgument, {"1 rows", "at least 2"}, [&] { draw_features(bad); });
  bad = options(int64_t{1} << 40);
  expect_error(ErrorKind::InvalidArgument, {"16 GiB"}, [&] { draw_features(bad); });
}

}  // namespace
}  // namespace fovea::tables::synthetic_test
