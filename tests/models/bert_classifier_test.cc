// What BERT with a class on top must do, for texts that fit and for texts in windows.
#include "fovea/models/bert_classifier.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "tests/models/contract.h"
#include "tests/models/token_batch.h"

namespace fovea::bert_classifier_test {
namespace {

using namespace testing;  // contract.h, token_batch.h

struct Case {
  std::string name;
  std::string pooling;
  int64_t window = 8;  // texts have up to 7 tokens
};

const Case kCases[] = {
    {"cls", "cls"}, {"mean", "mean"}, {"cls_in_windows", "cls", 3}, {"mean_in_windows", "mean", 3}};

BertClassifierOptions small(const std::string& pooling = "cls") {
  BertClassifierOptions options;
  options.encoder = small_bert_encoder();
  options.pooling = pooling;
  return options;
}

class BertClassifierContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<BertClassifier> fresh(uint64_t seed = 1) {
    return initialised(
        std::make_shared<BertClassifier>(small(GetParam().pooling),
                                         DocumentShape{kPieces, kClasses, GetParam().window, {}}),
        seed, 10);
  }
};

TEST(BertClassifier, LabelsBeginWithTheirShareOfTheRows) {
  DocumentShape shape{kPieces, 3, 8, {1, 50, 99}};
  shape.kind = AnswerKind::Labels;
  shape.rows = 100;
  BertClassifier model(small(), shape);
  model.initialise(Random(1));
  const at::Tensor shares = model.named_parameters()["output.bias"].sigmoid();  // [C]
  EXPECT_LT(largest_difference(shares, torch::tensor({0.0149f, 0.5f, 0.9851f})), 1e-4);
  BertClassifierOptions balanced = small();
  balanced.class_weights = "balanced";  // every label counts as often as not
  BertClassifier even(balanced, shape);
  even.initialise(Random(1));
  EXPECT_EQ(even.named_parameters()["output.bias"].abs().max().item<float>(), 0);
}

TEST_P(BertClassifierContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(token_batch(4), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(BertClassifierContract, OverfitsEightExamples) {
  auto model = fresh();
  const Batch rows = token_batch(8);
  overfit(*model, rows, 0.01);
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
  const Batch rows = token_batch(6);
  const Predictions predictions = model->predict(rows);
  expect_fused_equals_readable(*model, rows, predictions);
  Tap on_demand(Record::OnDemand);
  model->replay(rows, predictions, &on_demand);
  for (const AttentionMap& map : on_demand.maps())
    EXPECT_TRUE(map.source->rows(2, 1, 1, 4).equal(dense_weights(map)[2][1].narrow(0, 1, 4)));
}

TEST_P(BertClassifierContract, RecordsAMapPerLayerAndNothingOnPadding) {
  auto model = fresh();
  const Batch rows = token_batch(6);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap);
  ASSERT_EQ(tap.maps().size(), 2u);
  const at::Tensor keep = pairs_in_windows(rows.at("tokens.keep"), GetParam().window);
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
  expect_replaced_map_counts(*model, rows, model->predict(rows), "attention");
}

TEST_P(BertClassifierContract, GradientsReachTheTokens) {
  auto model = fresh();
  const Batch rows = token_batch(5);
  const at::Tensor leaf = expect_leaf(*model, rows, model->predict(rows), "tokens");  // [B, T, D]
  const at::Tensor reached = leaf.grad().abs().sum(-1) > 0;
  EXPECT_TRUE(reached.equal(rows.at("tokens.keep"))) << "every real token, and no padding";
}

TEST_P(BertClassifierContract, RowsAndPaddingDoNotMatter) {
  auto model = fresh();
  const Batch rows = token_batch(6), padded = token_batch(6, 7, 4);
  expect_rows_and_padding_alone(*model, rows, padded);
}

INSTANTIATE_TEST_SUITE_P(All, BertClassifierContract, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

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
    take_parameters(model, reference["bert_parameters"]);
    EXPECT_LT(largest_difference(model.predict(batch).scores, packed(one["logits"]).softmax(1)),
              1e-10);
    // Positions that no window reaches have no gradient there and a row of zeros here.
    expect_loss_of(model, batch, one, concat(one["pooling"], " ", one["window"]));
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
  expect_loss_by_stream(model, rows);
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
}  // namespace fovea::bert_classifier_test
