// What RETAIN must do besides what every model of health records must (visit_model_test.cc).
#include "fovea/models/retain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/models/visit_baselines.h"
#include "tests/models/contract.h"
#include "tests/models/visit_batch.h"

namespace fovea::retain_test {
namespace {

using namespace testing;  // contract.h, visit_batch.h

RetainOptions small() {
  return {"retain", 5, 4, 3, true, 0, 0, 0, "none"};
}

VisitShape shape(bool times = false) {
  VisitShape shape;
  shape.codes = kCodesKnown;
  shape.times = times;
  return shape;
}

std::shared_ptr<VisitModel> made_as(const Json& one, double l2) {
  RetainOptions retain = small();
  retain.l2 = l2;
  if (one["model"] == "retain")
    return std::make_shared<Retain>(retain, shape(one["times"].get<bool>()));
  return std::make_shared<VisitGru>(VisitGruOptions{"gru", 5, 4, true, 0, 0, l2, "none"},
                                    shape(one["times"].get<bool>()));
}

TEST(Retain, EqualsPyTorch) {
  const Json reference = golden("retain");
  Batch batch = visits_batch(reference["patients"].get<std::vector<Visits>>());
  batch.tensors["target"] = tensor_of(reference["target"], at::kLong);
  ASSERT_EQ(reference["cases"].size(), 4u);
  for (const Json& one : reference["cases"]) {
    const auto model = made_as(one, reference["l2"].get<double>());
    take_parameters(*model, one["parameters"]);
    EXPECT_LT(largest_difference(model->log_odds(batch), packed(one["log_odds"])), 1e-10);
    expect_loss_of(*model, batch, one, one["model"]);
    if (one["model"] != "retain") continue;
    Tap tap;
    model->replay(batch, model->predict(batch), &tap);
    for (int64_t row = 0; row < batch.size; ++row) {
      const auto equals = [&](const char* map, const Json& expected) {
        const at::Tensor wanted = packed(expected);
        const at::Tensor own = tap.map(map).weights[row][0][0].narrow(0, 0, wanted.size(0));
        EXPECT_LT(largest_difference(own, wanted), 1e-10) << map << " " << row;
      };
      equals("visits", one["alpha"][size_t(row)]);
      equals("contributions", one["contributions"][size_t(row)]);
    }
  }
}

TEST(Retain, WeighsVisitsByWhatCameAfterThem) {
  Retain model(small(), shape());
  model.initialise(Random(1));
  const auto scores_of = [&](const Visits& visits) {  // of all visits, up to what they share
    const Batch batch = visits_batch({visits});
    Tap tap;
    model.replay(batch, model.predict(batch), &tap);
    return tap.map("visits").weights.flatten().log();
  };
  // The GRUs begin at the last visit: how it compares with the one before depends on these two
  // alone, whatever came earlier.
  const at::Tensor one = scores_of({{4, 5}, {6, 7}, {8}}), other = scores_of({{9}, {6, 7}, {8}});
  EXPECT_NEAR((one[1] - one[2]).item<double>(), (other[1] - other[2]).item<double>(), 1e-5);
  const at::Tensor later = scores_of({{4, 5}, {6, 7}, {10}});
  EXPECT_GT(std::abs((one[0] - one[1]).item<double>() - (later[0] - later[1]).item<double>()),
            1e-5);
}

TEST(Retain, AttentionOfEveryVisitSumsToOne) {
  Retain model(small(), shape(true));
  model.initialise(Random(1));
  const Batch rows = record_batch(12, 2);
  Tap tap;
  model.replay(rows, model.predict(rows), &tap);
  EXPECT_EQ(tap.map("visits").kind, MapKind::Distribution);
  EXPECT_EQ(check_map(tap.map("visits"), rows.at("visits.keep").unsqueeze(1)), "");
  const Batch empty = visits_batch({{}, {{4}}});
  Tap other;
  model.replay(empty, model.predict(empty), &other);
  EXPECT_EQ(other.map("visits").kind, MapKind::Partial) << "one patient has no visit";
}

TEST(Retain, TimesCountOnlyWhereThereAreSome) {
  const Batch rows = record_batch(6);
  Batch other = rows;
  other.tensors["gaps"] = rows.at("gaps") + 1;
  for (const bool times : {false, true}) {
    Retain model(small(), shape(times));
    model.initialise(Random(1));
    const double difference = largest_difference(model.log_odds(rows), model.log_odds(other));
    EXPECT_EQ(difference > 1e-6, times);
  }
}

TEST(Retain, FindsTheCodeThatDecides) {
  Retain model(small(), shape());
  model.initialise(Random(1));
  Batch rows = record_batch(64);
  const at::Tensor decides = rows.at("codes") == 7;  // [B, K]
  rows.tensors["target"] = decides.any(1).to(torch::kLong);
  overfit(model, rows, 0.02, 200);
  Tap tap;
  model.replay(rows, model.predict(rows), &tap);
  const at::Tensor weights = tap.map("contributions").weights.flatten(0, 2);  // [B, K]
  const auto mean_of = [&](const at::Tensor& chosen) {
    return weights.masked_select(chosen).mean().item<double>();
  };
  for (const int64_t other : {4, 5, 6, 8, 9, 10, 11})
    EXPECT_GT(mean_of(decides), 2 * std::abs(mean_of(rows.at("codes") == other))) << other;
}

}  // namespace
}  // namespace fovea::retain_test
