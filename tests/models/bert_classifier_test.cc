// What BERT with a class on top must do, for texts that fit and for texts in windows.
#include "fovea/models/bert_classifier.h"

#include <gtest/gtest.h>

#include "fovea/attention/fused.h"
#include "fovea/core/error.h"
#include "tests/models/token_batch.h"
#include "tests/support/golden.h"

namespace fovea {
namespace {

using testing::golden;
using testing::kClasses;
using testing::kPieces;
using testing::largest_difference;
using testing::tensor_of;
using testing::token_batch;

struct Case {
  std::string name;
  std::string pooling;
  int64_t window = 8;  // texts have up to 7 tokens
};

const Case kCases[] = {
    {"cls", "cls"}, {"mean", "mean"}, {"cls_in_windows", "cls", 3}, {"mean_in_windows", "mean", 3}};

BertClassifierOptions small(const std::string& pooling = "cls") {
  BertClassifierOptions options;
  options.encoder.layers = 2;
  options.encoder.hidden = 8;
  options.encoder.heads = 2;
  options.encoder.feed_forward = 12;
  options.encoder.maximum_length = 16;
  options.encoder.dropout = options.encoder.attention_dropout = 0;
  options.pooling = pooling;
  return options;
}

class BertClassifierContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<BertClassifier> fresh(uint64_t seed = 1) {
    auto model = std::make_shared<BertClassifier>(
        small(GetParam().pooling), DocumentShape{kPieces, kClasses, GetParam().window, {}});
    model->initialise(Random(seed));
    torch::NoGradGuard no_gradients;  // fresh weights are small: larger ones tell paths apart
    for (auto& parameter : model->parameters()) parameter.mul_(10);
    return model;
  }
};

TEST_P(BertClassifierContract, FitsItsSchemaAndSummary) {
  auto model = fresh();
  check_batch(token_batch(4), model->schema());
  int64_t summed = 0;
  for (const auto& layer : model->summary()) summed += layer.parameters;
  EXPECT_EQ(summed, count_parameters(*model));
  EXPECT_TRUE(flat_parameters(*model).equal(flat_parameters(*fresh(1))));
  EXPECT_FALSE(flat_parameters(*model).equal(flat_parameters(*fresh(2))));
}

TEST_P(BertClassifierContract, OverfitsEightExamples) {
  auto model = fresh();
  const Batch rows = token_batch(8);
  torch::optim::Adam optimiser(model->parameters(), torch::optim::AdamOptions(0.01));
  for (int step = 0; step < 150; ++step) {
    optimiser.zero_grad();
    model->loss(rows, {Random(1), step}).objective.backward();
    for (const auto& item : model->named_parameters()) {
      if (model->rule_of(item.key()).rate == 0) continue;
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      ASSERT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
    }
    optimiser.step();
  }
  EXPECT_TRUE(model->predict(rows).scores.argmax(1).equal(rows.at("target")));
}

TEST_P(BertClassifierContract, ReplayEqualsPredict) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = token_batch(20);
  const Predictions predictions = model->predict(rows);
  EXPECT_LT(largest_difference(predictions.scores.sum(1), torch::ones({20})), 1e-6);
  Tap tap;
  const at::Tensor replayed = model->replay(rows, predictions, &tap);  // [B, 1]
  EXPECT_LT(largest_difference(replayed, std::get<0>(predictions.scores.max(1, true)).log()), 1e-5);
}

TEST_P(BertClassifierContract, FusedEqualsReadableAndShowsTheSameWeights) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = token_batch(6);
  const Predictions predictions = model->predict(rows);
  Tap live, on_demand(Record::OnDemand);
  const at::Tensor readable = model->replay(rows, predictions, &live);
  EXPECT_LT(largest_difference(model->replay(rows, predictions, &on_demand), readable), 1e-5);
  ASSERT_EQ(live.maps().size(), on_demand.maps().size());
  for (size_t i = 0; i < live.maps().size(); ++i) {
    ASSERT_TRUE(on_demand.maps()[i].source);
    const at::Tensor whole = dense_weights(on_demand.maps()[i]);
    EXPECT_LT(largest_difference(live.maps()[i].weights, whole), 1e-6) << i;
    const at::Tensor some = on_demand.maps()[i].source->rows(2, 1, 1, 4);
    EXPECT_TRUE(some.equal(whole[2][1].narrow(0, 1, 4)));
  }
}

TEST_P(BertClassifierContract, RecordsAMapPerLayerAndNothingOnPadding) {
  auto model = fresh();
  const Batch rows = token_batch(6);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap);
  ASSERT_EQ(tap.maps().size(), 2u);
  const at::Tensor real = rows.at("tokens.keep");  // [B, T]
  const at::Tensor window = torch::arange(real.size(1)).floor_divide(GetParam().window);
  const at::Tensor keep = real.unsqueeze(1) & real.unsqueeze(2) &
                          (window.unsqueeze(0) == window.unsqueeze(1)).unsqueeze(0);
  for (int64_t layer = 1; layer <= 2; ++layer) {
    const AttentionMap& map = tap.maps()[size_t(layer) - 1];
    EXPECT_EQ(map.name, "attention");
    EXPECT_EQ(map.query_axis, "tokens");
    EXPECT_EQ(map.layer, layer);
    EXPECT_EQ(check_map(map, keep), "") << layer;
  }
}

TEST_P(BertClassifierContract, AReplacedMapChangesTheOutput) {
  auto model = fresh();
  const Batch rows = token_batch(5);
  const Predictions predictions = model->predict(rows);
  Tap plain, same, tap;
  const at::Tensor before = model->replay(rows, predictions, &plain);
  same.replace("attention", [](const AttentionMap& map) { return map.weights; });
  EXPECT_LT(largest_difference(model->replay(rows, predictions, &same), before), 1e-6);
  tap.replace("attention", [](const AttentionMap& map) { return map.weights.flip(-1) * 3; });
  EXPECT_GT(largest_difference(model->replay(rows, predictions, &tap), before), 1e-5);
}

TEST_P(BertClassifierContract, GradientsReachTheTokens) {
  auto model = fresh();
  const Batch rows = token_batch(5);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap).sum().backward();
  ASSERT_EQ(tap.leaves().count("tokens"), 1u);
  const at::Tensor& leaf = tap.leaves().at("tokens").values;  // [B, T, D]
  EXPECT_EQ(leaf.size(0), 5);
  EXPECT_EQ(leaf.size(1), rows.at("tokens").size(1));
  const at::Tensor reached = leaf.grad().abs().sum(-1) > 0;
  EXPECT_TRUE(reached.equal(rows.at("tokens.keep"))) << "every real token, and no padding";
}

TEST_P(BertClassifierContract, RowsAndPaddingDoNotMatter) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = token_batch(6), padded = token_batch(6, 7, 4);
  const double loss = model->loss(rows, {Random(1), 0}).objective.item<double>();
  EXPECT_NEAR(model->loss(padded, {Random(1), 0}).objective.item<double>(), loss, 1e-5);
  const at::Tensor together = model->predict(rows).scores;
  EXPECT_LT(largest_difference(model->predict(padded).scores, together), 1e-5);
  for (int64_t row = 0; row < 6; ++row) {
    Batch alone;
    alone.size = 1;
    for (const auto& [name, tensor] : rows.tensors) alone.tensors[name] = tensor.narrow(0, row, 1);
    EXPECT_LT(largest_difference(model->predict(alone).scores[0], together[row]), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BertClassifierContract, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

at::Tensor packed(const Json& json) {
  return tensor_of(json.at("data"), at::kDouble).view(json.at("shape").get<std::vector<int64_t>>());
}

TEST(BertClassifier, EqualsPyTorch) {
  const Json reference = golden("bert");
  const Batch batch{{{"tokens", tensor_of(reference["tokens"], at::kLong)},
                     {"segments", tensor_of(reference["segments"], at::kLong)},
                     {"tokens.keep", tensor_of(reference["keep"], at::kBool)},
                     {"target", tensor_of(reference["target"], at::kLong)}},
                    3};
  for (const Json& one : reference["classifier"]) {
    BertClassifierOptions options = small(one["pooling"]);
    options.encoder.hidden = 4, options.encoder.feed_forward = 5;
    options.encoder.maximum_length = 6;
    BertClassifier model(options, {9, 3, one["window"].get<int64_t>(), {}});
    model.to(at::kDouble);
    for (auto& item : model.named_parameters()) {
      torch::NoGradGuard no_gradients;
      item.value().copy_(packed(reference["bert_parameters"].at(item.key())));
    }
    EXPECT_LT(largest_difference(model.predict(batch).scores, packed(one["logits"]).softmax(1)),
              1e-10);
    const Loss loss = model.loss(batch, {Random(1), 0});
    EXPECT_NEAR(loss.objective.item<double>(), one["loss"].get<double>(), 1e-10);
    loss.objective.backward();
    for (const auto& item : model.named_parameters()) {
      if (model.rule_of(item.key()).rate == 0) continue;
      // Positions that no window reaches have no gradient there and a row of zeros here.
      EXPECT_LT(largest_difference(item.value().grad(), packed(one["gradients"].at(item.key()))),
                1e-9)
          << item.key() << " " << one["pooling"] << " " << one["window"];
    }
  }
}

TEST(BertClassifier, ClassWeightsBalanceRareClasses) {
  BertClassifierOptions options = small();
  options.class_weights = "balanced";
  BertClassifier model(options, {kPieces, kClasses, 8, {6, 3, 1}});
  model.initialise(Random(1));
  const Batch rows = token_batch(9);
  const at::Tensor scores = model.predict(rows).scores.log();
  const at::Tensor weights = torch::tensor({10.0 / 18, 10.0 / 9, 10.0 / 3});
  double sum = 0, total = 0;
  for (int64_t row = 0; row < 9; ++row) {
    const auto target = rows.at("target")[row].item<int64_t>();
    sum -= weights[target].item<double>() * scores[row][target].item<double>();
    total += weights[target].item<double>();
  }
  const Loss loss = model.loss(rows, {Random(1), 0});
  EXPECT_NEAR(loss.objective.item<double>(), sum / total, 1e-5);
  EXPECT_NEAR(loss.units.item<double>(), total, 1e-5);
}

TEST(BertClassifier, DropsTheSameForTheSameStream) {
  BertClassifierOptions options = small();
  options.encoder.dropout = options.encoder.attention_dropout = 0.3;
  BertClassifier model(options, {kPieces, kClasses, 8, {}});
  model.initialise(Random(1));
  const Batch rows = token_batch(6);
  const auto loss = [&](uint64_t seed) {
    return model.loss(rows, {Random(seed), 0}).objective.item<double>();
  };
  EXPECT_EQ(loss(3), loss(3));
  EXPECT_NE(loss(3), loss(4));
}

TEST(BertClassifier, RefusesWhatCannotWork) {
  const auto make = [](auto change, int64_t window) {
    BertClassifierOptions options = small();
    change(options);
    BertClassifier model(options, {kPieces, kClasses, window, {}});
  };
  EXPECT_THROW(make([](auto&) {}, 17), Error);
  EXPECT_THROW(make([](auto& o) { o.encoder.heads = 3; }, 8), Error);
  EXPECT_THROW(make([](auto& o) { o.fine_tuning.freeze = 4; }, 8), Error);
}

}  // namespace
}  // namespace fovea
