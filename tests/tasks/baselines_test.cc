// Linear baselines as scikit-learn has them.
#include "fovea/tasks/baselines.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::baselines_test {
namespace {

constexpr int64_t kRows = 40;

// scikit-learn 1.2 with C = 1, alpha = 1.
const std::vector<float> kTwo{2.0589495, -1.4595999, 0.1300699};
const std::vector<float> kThree{-1.6110513, 1.3040026, 0.0483725};
const std::vector<float> kFirstRow{0.5330484, 0.4133570, 0.0535946};
const std::vector<float> kRidge{1.3389672, -0.9240605, 0.0037330};
constexpr double kTwoBias = 0.9370248, kRidgeBias = 0.2732894;
constexpr double kRarity = 1.2876820724517808, kFirstToken = 0.8610369959439763,
                 kSecondToken = 0.5085423203783267;

struct WavyRows {
  LinearInputs inputs;
  at::Tensor number, two, three;
};

WavyRows wavy_rows() {
  const at::Tensor i = torch::arange(kRows, at::kDouble);
  const at::Tensor x = torch::stack({i.sin(), (i * 1.7).cos(), (i * 2.3 + 1).sin()}, 1);
  WavyRows rows;
  rows.inputs.dense = x.to(at::kFloat);
  rows.number = 1.5 * x.select(1, 0) - x.select(1, 1) + 0.3 + 0.8 * (i * 5.1).sin();
  rows.two = rows.number.gt(0).to(at::kLong);
  rows.three = rows.number.gt(0.8).to(at::kLong) + rows.number.gt(-0.4).to(at::kLong);
  return rows;
}

/// The same rows as lists of what is not 0.
LinearInputs sparse(const at::Tensor& dense) {
  LinearInputs inputs;
  inputs.width = dense.size(1);
  for (int64_t row = 0; row < dense.size(0); ++row) {
    std::vector<std::pair<int64_t, float>> cells;
    for (int64_t f = 0; f < dense.size(1); ++f) cells.emplace_back(f, dense[row][f].item<float>());
    inputs.add_row(cells);
  }
  return inputs;
}

TEST(Baselines, LogisticRegressionOfTwoClasses) {
  const WavyRows rows = wavy_rows();
  const LinearModel model = fit_linear(rows.inputs, rows.two, {LinearLoss::Logistic, 1});
  EXPECT_TRUE(model.weight[0].allclose(torch::tensor(kTwo), 1e-3, 1e-3)) << model.weight;
  EXPECT_NEAR(model.bias.item<double>(), kTwoBias, 1e-3);
}

TEST(Baselines, LogisticRegressionOfSeveralClasses) {
  const WavyRows rows = wavy_rows();
  const LinearModel model = fit_linear(rows.inputs, rows.three, {LinearLoss::Logistic, 3});
  EXPECT_TRUE(model.weight[0].allclose(torch::tensor(kThree), 1e-3, 1e-3)) << model.weight;
  const at::Tensor first = model.outputs(rows.inputs).softmax(1)[0];
  EXPECT_TRUE(first.allclose(torch::tensor(kFirstRow), 1e-3, 1e-3)) << first;
}

TEST(Baselines, RidgeRegression) {
  const WavyRows rows = wavy_rows();
  const LinearModel model = fit_linear(rows.inputs, rows.number, {LinearLoss::Squared, 1});
  EXPECT_TRUE(model.weight[0].allclose(torch::tensor(kRidge), 1e-3, 1e-3)) << model.weight;
  EXPECT_NEAR(model.bias.item<double>(), kRidgeBias, 1e-3);
}

TEST(Baselines, ListsOfFeaturesGiveWhatATableGives) {
  const WavyRows rows = wavy_rows();
  const LinearInputs lists = sparse(rows.inputs.dense);
  for (const auto& [target, loss, outputs] : {std::tuple{rows.two, LinearLoss::Logistic, 1},
                                              {rows.three, LinearLoss::Logistic, 3},
                                              {rows.number, LinearLoss::Squared, 1}}) {
    const LinearModel dense = fit_linear(rows.inputs, target, {loss, outputs});
    const LinearModel other = fit_linear(lists, target, {loss, outputs});
    EXPECT_TRUE(other.weight.allclose(dense.weight, 1e-3, 1e-3));
    EXPECT_TRUE(other.outputs(lists).allclose(dense.outputs(rows.inputs), 1e-3, 2e-3));
  }
}

TEST(Baselines, TokensAreWeighedAsByScikitLearn) {
  LinearInputs counts;  // "a a b", "b c", "c c c a", nothing
  counts.width = 3;
  counts.add_row({{0, 2.f}, {1, 1.f}});
  counts.add_row({{1, 1.f}, {2, 1.f}});
  counts.add_row({{0, 1.f}, {2, 3.f}});
  const at::Tensor rarity = inverse_frequencies(counts);
  EXPECT_NEAR(rarity[0].item<double>(), kRarity, 1e-6);
  const LinearInputs weighed = weigh_tokens(counts, rarity);
  EXPECT_NEAR(weighed.values[0], kFirstToken, 1e-6);
  EXPECT_NEAR(weighed.values[1], kSecondToken, 1e-6);
  testing::expect_error(ErrorKind::BadData, "tokens",
                        [&] { weigh_tokens(counts, torch::ones({5})); });
}

TEST(Baselines, AWeightOfTwoIsARowThatStandsThereTwice) {
  const WavyRows rows = wavy_rows();
  LinearInputs twice;
  twice.dense = torch::cat({rows.inputs.dense, rows.inputs.dense.slice(0, 0, kRows / 2)});
  const at::Tensor targets = torch::cat({rows.two, rows.two.slice(0, 0, kRows / 2)});
  at::Tensor weights = torch::ones({kRows});
  weights.slice(0, 0, kRows / 2).fill_(2);
  LinearFit fit{LinearLoss::Logistic, 1, 1, weights};
  const LinearModel weighted = fit_linear(rows.inputs, rows.two, fit);
  const LinearModel repeated = fit_linear(twice, targets, {LinearLoss::Logistic, 1});
  EXPECT_TRUE(weighted.weight.allclose(repeated.weight, 1e-3, 1e-3)) << weighted.weight;
  EXPECT_NEAR(weighted.bias.item<double>(), repeated.bias.item<double>(), 1e-3);
}

TEST(Baselines, NoiseIsPenalisedMoreThanALaw) {
  const Random random(3);
  LinearInputs inputs;
  inputs.dense = random.split("inputs").normal_tensor({120, 20}, 0, 1, torch::kFloat);
  const at::Tensor noise = random.split("noise").normal_tensor({120}, 0, 1, torch::kFloat);
  const at::Tensor law = inputs.dense.select(1, 0) * 2 - inputs.dense.select(1, 1) + 0.1 * noise;
  const LinearFit squared{LinearLoss::Squared};
  EXPECT_LE(choose_penalty(inputs, law, squared), 3.2);
  EXPECT_GE(choose_penalty(inputs, noise, squared), 300);
  const LinearFit logistic{LinearLoss::Logistic};
  EXPECT_LE(choose_penalty(inputs, law.gt(0).to(torch::kLong), logistic), 3.2);
  EXPECT_GE(choose_penalty(inputs, noise.gt(0).to(torch::kLong), logistic), 30);
  EXPECT_EQ(choose_penalty(inputs, law, squared), choose_penalty(inputs, law, squared));
}

TEST(Baselines, OtherInputsThanThoseOfTheFitAreRefused) {
  const WavyRows rows = wavy_rows();
  const LinearModel model = fit_linear(rows.inputs, rows.two, {LinearLoss::Logistic, 1});
  LinearInputs wider;
  wider.dense = torch::zeros({2, 7});
  testing::expect_error(ErrorKind::BadData, "7", [&] { model.outputs(wider); });
}

}  // namespace
}  // namespace fovea::baselines_test
