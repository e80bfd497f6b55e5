#include "fovea/explain/heads/importance.h"

#include <gtest/gtest.h>
#include <cmath>

#include "fovea/tensor/torch.h"
#include "tests/explain/fake_predictor.h"
#include "tests/support/expect_error.h"

namespace fovea::importance_test {
namespace {

using testing::expect_error;

/// Two layers of three heads over two keys, whose values are the row's two numbers. What head h of
/// layer l sees counts kNeeds[l][h] times; the sum is the logit of the answer, or the answer
/// itself.
class PlantedPredictor : public Predictor {
 public:
  static constexpr double kNeeds[2][3] = {{0, 3, 0.5}, {-1, 0, 0}};
  explicit PlantedPredictor(bool of_values) : of_values_(of_values) {}

  std::vector<Prediction> predict(std::span<const Example> examples) const override {
    Prediction prediction;
    if (of_values_) prediction.values = torch::zeros({2});
    return std::vector<Prediction>(examples.size(), prediction);
  }

  at::Tensor replay_batch(std::span<const Example> examples, std::span<const Prediction>,
                          Tap& tap) const override {
    std::vector<at::Tensor> rows;
    for (const Example& example : examples) rows.push_back(example.tensors.at("x"));
    const at::Tensor values = torch::stack(rows);  // [B, 2]
    at::Tensor logit = torch::zeros({values.size(0)}, at::kDouble);
    for (int64_t layer = 1; layer <= 2; ++layer) {
      AttentionMap map = dense_map("attention", "", "keys",
                                   torch::full({values.size(0), 3, 1, 2}, 0.5, at::kDouble));
      map.layer = layer;
      const at::Tensor seen =
          (tap.report(map) * values.view({-1, 1, 1, 2})).sum(-1).squeeze(2);  // [B, 3]
      for (int64_t head = 0; head < 3; ++head)
        logit = logit + kNeeds[layer - 1][head] * seen.select(1, head);
    }
    if (of_values_) return torch::stack({logit, 2 * logit}, 1);
    return torch::log_sigmoid(logit).unsqueeze(1);
  }

 private:
  bool of_values_;
};

ExampleSource rows(int64_t count) {
  return {count, [](int64_t row) {
            Example example;
            example.tensors["x"] = torch::tensor({1.0, double(row)}, at::kDouble);
            return example;
          }};
}

TEST(HeadImportance, FindsThePlantedHeadsExactly) {
  const PlantedPredictor predictor(/*of_values=*/false);
  for (const int64_t at_once : {1, 2, 8}) {  // rows of a batch do not mix
    ImportanceOptions options;
    options.rows_at_once = at_once;
    const auto heads = measure_importance(predictor, rows(5), options);
    ASSERT_EQ(heads.size(), 6u);
    for (const HeadImportance& head : heads) {
      double gradient = 0, drop = 0;
      for (int64_t row = 0; row < 5; ++row) {
        const double seen = (1 + double(row)) / 2, logit = 2.5 * seen;  // 3 + 0.5 - 1
        const double part =
            PlantedPredictor::kNeeds[head.name.layer - 1][head.name.head - 1] * seen;
        gradient += std::abs(part) / (1 + std::exp(logit)) / 5;
        drop += (std::log1p(std::exp(part - logit)) - std::log1p(std::exp(-logit))) / 5;
      }
      EXPECT_NEAR(head.gradient, gradient, 1e-9) << head.name.layer << "." << head.name.head;
      EXPECT_NEAR(*head.drop, drop, 1e-9) << head.name.layer << "." << head.name.head;
    }
    EXPECT_NEAR(heads[1].importance, 3 / std::sqrt(9.25), 1e-9);
    EXPECT_NEAR(heads[2].importance, 0.5 / std::sqrt(9.25), 1e-9);
    EXPECT_DOUBLE_EQ(heads[3].importance, 1) << "each layer has length 1";
    EXPECT_LT(*heads[3].drop, 0) << "a head can stand in the way";
  }
}

TEST(HeadImportance, OfNumbersIsHowFarTheyMove) {
  const PlantedPredictor predictor(/*of_values=*/true);
  const auto heads = measure_importance(predictor, rows(3));
  EXPECT_NEAR(heads[1].importance, 3 / std::sqrt(9.25), 1e-6);
  EXPECT_DOUBLE_EQ(heads[0].importance, 0);
  // |3 seen (1, 2)| over the rows with 0.5, 1 and 1.5 seen
  EXPECT_NEAR(*heads[1].drop, 3 * std::sqrt(5.0), 1e-9);
}

TEST(HeadImportance, ZeroingCanBeLeftOutAndGradientsStayOff) {
  const PlantedPredictor predictor(/*of_values=*/false);
  torch::NoGradGuard no_gradients;  // the caller's
  ImportanceOptions options;
  options.zeroing = false;
  std::vector<int64_t> told;
  options.progress = [&](int64_t done) { told.push_back(done); };
  options.rows_at_once = 2;
  const auto heads = measure_importance(predictor, rows(5), options);
  EXPECT_GT(heads[1].gradient, 0);
  EXPECT_FALSE(heads[1].drop);
  EXPECT_EQ(told, (std::vector<int64_t>{2, 4, 5}));
  EXPECT_FALSE(torch::GradMode::is_enabled());
}

TEST(HeadImportance, NothingToMeasureIsAnError) {
  const PlantedPredictor predictor(false);
  expect_error(ErrorKind::InvalidArgument, "no rows",
               [&] { measure_importance(predictor, rows(0)); });
  FakePredictor without;
  expect_error(ErrorKind::InvalidArgument, "no attention",
               [&] { measure_importance(without, rows(1)); });
}

}  // namespace
}  // namespace fovea::importance_test
