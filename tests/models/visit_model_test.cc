// What every model of health records must do; RETAIN's own tests are in retain_test.cc.
#include "fovea/models/visit_model.h"

#include <gtest/gtest.h>

#include "fovea/models/retain.h"
#include "fovea/models/visit_baselines.h"
#include "tests/models/contract.h"
#include "tests/models/visit_batch.h"

namespace fovea::visit_model_test {
namespace {

using namespace testing;  // contract.h, visit_batch.h

struct Case {
  std::string name, model;
  bool times = false;
  std::vector<std::string> maps = {};
};

const Case kCases[] = {
    {"retain", "retain", false, {"visits", "contributions"}},
    {"retain_times", "retain", true, {"visits", "contributions"}},
    {"logistic", "logistic", false, {"contributions"}},
    {"gru", "gru"},
    {"gru_times", "gru", true},
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

std::shared_ptr<VisitModel> make(const Case& one, double dropout = 0, double l2 = 0,
                                 const std::string& class_weights = "none") {
  VisitShape shape;
  shape.codes = kCodesKnown;
  shape.times = one.times;
  shape.class_counts = {6, 2};
  if (one.model == "logistic")
    return std::make_shared<VisitLogistic>(VisitLogisticOptions{"logistic", l2, class_weights},
                                           shape);
  if (one.model == "gru")
    return std::make_shared<VisitGru>(
        VisitGruOptions{"gru", 5, 4, true, dropout, dropout, l2, class_weights}, shape);
  return std::make_shared<Retain>(
      RetainOptions{"retain", 5, 4, 3, true, dropout, dropout, l2, class_weights}, shape);
}

class VisitContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<VisitModel> fresh(uint64_t seed = 1) {
    const auto model = make(GetParam());
    model->initialise(Random(seed));
    torch::NoGradGuard no_gradients;  // fresh weights are small: larger ones tell paths apart
    for (auto& parameter : model->parameters()) parameter.mul_(3).add_(0.1);
    return model;
  }
};

TEST_P(VisitContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(record_batch(4), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(VisitContract, OverfitsEightExamples) {
  expect_overfits(*fresh(), record_batch(8), {0.4, 0.05, 200});
}

TEST_P(VisitContract, ReplayEqualsPredict) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = record_batch(20);
  expect_replay_equals_predict(*model, rows);
  EXPECT_LT(
      largest_difference(model->predict(rows).scores.select(1, 1), model->log_odds(rows).sigmoid()),
      1e-6);
}

TEST_P(VisitContract, ContributionsAndBiasAreTheLogOdds) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = record_batch(30, 2);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap);
  ASSERT_EQ(tap.maps().size(), GetParam().maps.size());
  if (GetParam().maps.empty()) GTEST_SKIP() << "it says nothing";
  const AttentionMap& map = tap.map("contributions");
  EXPECT_EQ(map.kind, MapKind::Contribution);
  EXPECT_EQ(map.query_axis, "outcome");
  EXPECT_EQ(map.key_axis, "codes");
  EXPECT_NE(map.total.find("log odds of outcome"), std::string::npos);
  EXPECT_EQ(check_map(map, rows.at("codes.keep").unsqueeze(1)), "");
  const at::Tensor bias =
      model->named_parameters()[GetParam().model == "logistic" ? "bias" : "output.bias"];
  EXPECT_LT(largest_difference(map.weights.sum(-1).flatten() + bias, model->log_odds(rows)), 1e-4);
  const at::Tensor nothing = rows.at("codes") < 4;
  EXPECT_EQ(map.weights.flatten(0, 2).masked_select(nothing).abs().sum().item<double>(), 0)
      << "what is not known adds nothing";
}

TEST_P(VisitContract, AReplacedMapChangesTheOutput) {
  auto model = fresh();
  const Batch rows = record_batch(5);
  for (const std::string& map : GetParam().maps)
    expect_replaced_map_counts(*model, rows, model->predict(rows), map);
}

TEST_P(VisitContract, GradientsReachTheCodesAndNoPadding) {
  auto model = fresh();
  const Batch rows = record_batch(5, 2);
  const at::Tensor leaf = expect_leaf(*model, rows, model->predict(rows), "codes");  // [B, K, D]
  const at::Tensor reached = leaf.grad().abs().sum(-1) > 0;
  const at::Tensor real = rows.at("codes.keep") & (rows.at("codes") >= 4);
  EXPECT_TRUE((reached | ~real).all().item<bool>()) << "all that is real";
}

TEST_P(VisitContract, PaddingAndNeighboursDoNotMatter) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = record_batch(6), padded = record_batch(6, 3);
  EXPECT_NEAR(loss_of(*model, padded), loss_of(*model, rows), 1e-5);
  const at::Tensor together = model->log_odds(rows);
  EXPECT_LT(largest_difference(model->log_odds(padded), together), 1e-5);
  for (int64_t row = 0; row < 6; ++row)
    EXPECT_LT(largest_difference(model->log_odds(row_of(rows, row))[0], together[row]), 1e-5);
}

TEST_P(VisitContract, APatientWithoutVisitsIsAnsweredByTheBias) {
  auto model = fresh();
  Batch rows = visits_batch({{{5, 6}, {7}}, {}, {{}, {}}});
  rows.tensors["target"] = torch::tensor({0, 1, 1});
  model->loss(rows, {Random(1), 0}).objective.backward();
  expect_gradients(*model);
  const Batch nobody = visits_batch({{}, {}});
  const double alone = model->log_odds(nobody)[1].item<double>();
  const at::Tensor bias =
      model->named_parameters()[GetParam().model == "logistic" ? "bias" : "output.bias"];
  EXPECT_NEAR(alone, bias.item<double>(), 1e-6);
  EXPECT_NEAR(model->log_odds(rows)[1].item<double>(), alone, 1e-5);
  Tap tap;
  const at::Tensor replayed = model->replay(nobody, model->predict(nobody), &tap);
  EXPECT_TRUE(replayed.isfinite().all().item<bool>());
  EXPECT_TRUE(model->replay(rows, model->predict(rows), &tap).isfinite().all().item<bool>());
}

TEST_P(VisitContract, AbsenceIsWhatTheNetworkSaysWithoutTheCode) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = record_batch(4, 1);
  Tap tap(Record::OnDemand);
  model->replay(rows, model->predict(rows), &tap);
  const AttentionMap& map = tap.map("absent");
  const at::Tensor before = model->log_odds(rows);
  for (int64_t row = 0; row < 4; ++row) {
    const at::Tensor effects = head_of(map, row, 0)[0];  // [K]
    for (int64_t code = 0; code < effects.size(0); ++code) {
      Batch without = row_of(rows, row);
      without.tensors["codes"] = without.at("codes").clone();
      without.tensors["codes"][0][code] = 1;
      const double expected = rows.at("codes.keep")[row][code].item<bool>()
                                  ? (model->log_odds(without)[0] - before[row]).item<double>()
                                  : 0;
      EXPECT_NEAR(effects[code].item<double>(), expected, 1e-5) << row << " " << code;
    }
  }
  Tap live;
  model->replay(rows, model->predict(rows), &live);
  for (const AttentionMap& one : live.maps()) EXPECT_NE(one.name, "absent") << "it would cost";
}

TEST_P(VisitContract, GradientsEqualFiniteDifferences) {
  auto model = make(GetParam(), 0, 0.01);
  model->initialise(Random(1));
  const Batch rows = record_batch(6);
  expect_slopes(*model, rows, 1e-6);
}

TEST_P(VisitContract, L2DropoutAndClassWeightsCount) {
  const Batch rows = record_batch(6);
  const auto loss = [&](double dropout, double l2, const char* class_weights, uint64_t seed) {
    const auto model = make(GetParam(), dropout, l2, class_weights);
    model->initialise(Random(1));
    return model->loss(rows, {Random(seed), 0}).objective.item<double>();
  };
  EXPECT_GT(loss(0, 0.1, "none", 1), loss(0, 0, "none", 1));
  EXPECT_NE(loss(0, 0, "balanced", 1), loss(0, 0, "none", 1));
  EXPECT_EQ(loss(0.5, 0, "none", 3), loss(0.5, 0, "none", 3));
  if (GetParam().model == "logistic") return;
  EXPECT_NE(loss(0.5, 0, "none", 3), loss(0.5, 0, "none", 4));
}

TEST_P(VisitContract, SeveralOutcomesHaveWeightsOfTheirOwn) {
  VisitShape shape;
  shape.codes = kCodesKnown;
  shape.times = GetParam().times;
  shape.labels = {"one", "two", "three"};
  shape.class_counts = {3, 2, 1}, shape.rows = 6;
  std::shared_ptr<VisitModel> model;
  if (GetParam().model == "logistic")
    model = std::make_shared<VisitLogistic>(VisitLogisticOptions{"logistic", 0, "none"}, shape);
  else if (GetParam().model == "gru")
    model = std::make_shared<VisitGru>(VisitGruOptions{"gru", 5, 4, true, 0, 0, 0, "none"}, shape);
  else
    model =
        std::make_shared<Retain>(RetainOptions{"retain", 5, 4, 3, true, 0, 0, 0, "none"}, shape);
  model->initialise(Random(1));
  Batch rows = record_batch(6, 1);
  rows.tensors["target"] = torch::tensor({1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0})
                               .view({6, 3})
                               .to(at::kFloat);
  check_batch(rows, model->schema());
  const at::Tensor odds = model->log_odds(rows);  // [6, 3]
  EXPECT_LT(largest_difference(model->predict(rows).scores, odds.sigmoid()), 1e-6);
  const double expected =
      torch::binary_cross_entropy_with_logits(odds, rows.at("target")).item<double>();
  EXPECT_NEAR(loss_of(*model, rows), expected, 1e-5);
  Tap tap(Record::OnDemand);
  model->replay(rows, model->predict(rows), &tap);
  const at::Tensor absent = head_of(tap.map("absent"), 2, 0);  // [3, K]
  Batch without = row_of(rows, 2);
  without.tensors["codes"] = without.at("codes").clone();
  without.tensors["codes"][0][0] = 1;
  EXPECT_LT(largest_difference(absent.select(1, 0), model->log_odds(without)[0] - odds[2]), 1e-5);
  if (!GetParam().maps.empty()) {
    Tap live;
    model->replay(rows, model->predict(rows), &live);
    const AttentionMap& map = live.map("contributions");  // [6, 1, 3, K]
    const at::Tensor bias =
        model->named_parameters()[GetParam().model == "logistic" ? "bias" : "output.bias"];
    EXPECT_LT(largest_difference(map.weights.sum(-1).squeeze(1) + bias, odds), 1e-4);
  }
  overfit(*model, rows, 0.05, 300);
  EXPECT_LT(loss_of(*model, rows), 0.5 * expected);
}

INSTANTIATE_TEST_SUITE_P(All, VisitContract, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace fovea::visit_model_test
