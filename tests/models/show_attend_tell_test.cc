// What the caption model must do: with every kind of attention, and held against PyTorch.
#include "fovea/models/show_attend_tell.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "tests/models/caption_batch.h"
#include "tests/models/contract.h"
#include "tests/models/sequence_contract.h"
#include "tests/support/expect_error.h"

namespace fovea::show_attend_tell_test {
namespace {

using namespace testing;  // contract.h, sequence_contract.h

struct Case {
  std::string name, attention, score, baseline = "soft";
};

const Case kCases[] = {{"soft", "soft", "additive"},
                       {"hard", "hard", "additive"},
                       {"moving", "hard", "additive", "moving"},
                       {"none", "none", "additive"},
                       {"dot", "soft", "dot"},
                       {"scaled_dot", "soft", "scaled-dot"},
                       {"general", "soft", "general"},
                       {"content", "soft", "content"}};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class CaptionContract : public ::testing::TestWithParam<Case> {
 protected:
  /// Fresh weights are small: larger ones tell paths apart.
  std::shared_ptr<ShowAttendTell> fresh(uint64_t seed = 1, SearchOptions search = {},
                                        double scale = 2) const {
    ShowAttendTellOptions options = small_caption_model(GetParam().attention, GetParam().score);
    options.baseline = GetParam().baseline;
    if (GetParam().score == "scaled-dot" || GetParam().score == "content") options.hidden = 8;
    return initialised(std::make_shared<ShowAttendTell>(options, search, caption_shape()), seed,
                       scale);
  }
  bool attends() const { return GetParam().attention != "none"; }
};

TEST_P(CaptionContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(caption_batch(3), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(CaptionContract, OverfitsEightExamples) {
  auto model = fresh(1, {}, 1);
  const Batch rows = caption_batch(8);
  expect_overfits(*model, rows, {0.2, 0.01, 200},
                  [&] { return model->negative_log_likelihood(rows).first; });
}

TEST_P(CaptionContract, ReplayOfWhatWasFoundHasItsProbability) {
  expect_found_as_replayed(caption_batch(5),
                           [&](const SearchOptions& search) { return fresh(2, search); });
}

TEST_P(CaptionContract, APictureAnswersTheSameAloneAndAmongOthers) {
  const auto model = fresh(3);
  const Batch rows = caption_batch(6);
  expect_rows_alone(*model, rows, model->predict(rows));
}

TEST_P(CaptionContract, PaddingCountsNothing) {
  auto model = fresh();
  EXPECT_NEAR(loss_of(*model, caption_batch(5)), loss_of(*model, caption_batch(5, 3)), 1e-5);
}

TEST_P(CaptionContract, RecordsOneDistributionOverTheCellsPerWord) {
  const auto model = fresh();
  const Batch rows = caption_batch(4);
  Tap tap;
  model->replay(rows, predictions_of(rows.at("target")), &tap);
  ASSERT_EQ(tap.maps().size(), attends() ? 1u : 0u);
  if (!attends()) return;
  const AttentionMap& map = tap.map("attention");
  EXPECT_EQ(map.weights.sizes(), (std::vector<int64_t>{4, 1, 5, 16}));
  EXPECT_EQ(check_map(map), "");
  EXPECT_EQ(map.query_axis, "caption");
  EXPECT_EQ(map.key_axis, "cells");
  expect_replaced_map_counts(*model, rows, predictions_of(rows.at("target")), "attention");
}

TEST_P(CaptionContract, GradientsReachTheCells) {
  const auto model = fresh();
  const Batch rows = caption_batch(4);
  const at::Tensor leaf = expect_leaf(*model, rows, predictions_of(rows.at("target")), "cells");
  EXPECT_EQ(leaf.size(1), 16);
}

TEST_P(CaptionContract, GradientsEqualFiniteDifferences) {
  if (GetParam().attention == "hard") GTEST_SKIP() << "a draw has no finite difference";
  auto model = fresh();
  const Batch rows = caption_batch(4);
  // A small step: ReLU and max pooling have corners.
  expect_slopes(*model, rows, 1e-5, {3, 1e-7, 1});
}

INSTANTIATE_TEST_SUITE_P(Models, CaptionContract, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(ShowAttendTell, EqualsPyTorch) {
  const Json reference = golden("caption");
  const std::vector<std::vector<int64_t>> captions = reference["captions"];
  at::Tensor target = torch::zeros({3, 4}, at::kLong);
  for (size_t row = 0; row < captions.size(); ++row)
    for (size_t t = 0; t < captions[row].size(); ++t)
      target[int64_t(row)][int64_t(t)] = captions[row][t];
  const Batch rows{{{"image", packed(reference["images"]).to(at::kByte)},
                    {"target", target},
                    {"target.keep", target != 0}},
                   3};
  for (const Json& own : reference["cases"]) {
    SCOPED_TRACE(own["attention"].get<std::string>() + own["output"].get<std::string>());
    ShowAttendTellOptions options;
    options.encoder.channels = {4, 6};
    options.encoder.convolutions = 1;
    options.embedding = 5;
    options.hidden = 7;
    options.score.hidden_size = 4;
    options.dropout = options.word_dropout = options.label_smoothing = 0;
    options.attention = own["attention"];
    options.gate = own["gate"];
    options.output = own["output"];
    options.penalty = own["penalty"];
    CaptionShape shape;
    shape.symbols = 9;
    shape.image_size = 8;
    ShowAttendTell model(options, {}, shape);
    expect_golden_sequences(model, rows, own);
  }
}

TEST(ShowAttendTell, ThePenaltyIsZeroWhenEveryCellIsLookedAtOnce) {
  // One cell and one word: all attention is on it, once.
  ShowAttendTellOptions options = small_caption_model();
  options.encoder.channels = {3, 4, 5, 6};
  options.positions = false;
  Batch rows = row_of(caption_batch(1), 0);
  rows.tensors["target"] = torch::tensor({{3}}, at::kLong);
  rows.tensors["target.keep"] = torch::ones({1, 1}, at::kBool);
  const auto loss = [&](double penalty) {
    options.penalty = penalty;
    ShowAttendTell model(options, {}, caption_shape());
    model.initialise(Random(1));
    return loss_of(model, rows);
  };
  EXPECT_NEAR(loss(0), loss(7), 1e-5);
  rows.tensors["target"] = torch::tensor({{5, 3}}, at::kLong);
  rows.tensors["target.keep"] = torch::ones({1, 2}, at::kBool);
  EXPECT_NEAR(loss(7) - loss(0), 7.0 * 1 / 2, 1e-4) << "looked at twice: (1 - 2)^2, over two words";
}

TEST(ShowAttendTell, HiddenWeightsMoveTrainingAlone) {
  ShowAttendTellOptions options = small_caption_model();
  const auto losses = [&](double share) {
    options.attention_dropout = share;
    ShowAttendTell model(options, {}, caption_shape());
    model.initialise(Random(1));
    return std::pair(loss_of(model, caption_batch(4)),
                     model.negative_log_likelihood(caption_batch(4)).first);
  };
  EXPECT_GT(std::abs(losses(0.5).first - losses(0).first), 1e-4);
  EXPECT_EQ(losses(0.5).second, losses(0).second);
}

TEST(ShowAttendTell, AFrozenEncoderDoesNotLearn) {
  ShowAttendTellOptions options = small_caption_model();
  options.encoder.freeze = true;
  ShowAttendTell model(options, {}, caption_shape());
  model.initialise(Random(1));
  model.loss(caption_batch(4), {Random(1), 0}).objective.backward();
  for (const auto& item : model.named_parameters()) {
    const bool frozen = item.key().starts_with("encoder.");
    EXPECT_EQ(model.rule_of(item.key()).rate, frozen ? 0 : 1) << item.key();
    EXPECT_EQ(item.value().grad().defined(), !frozen) << item.key();
  }
}

TEST(ShowAttendTell, WhatCannotBeIsRefused) {
  CaptionShape odd = caption_shape();
  odd.image_size = 18;
  expect_error(ErrorKind::InvalidArgument, {"data.image_size", "multiple"},
               [&] { ShowAttendTell(small_caption_model(), {}, odd); });
  expect_error(ErrorKind::InvalidArgument, "grid", [&] {
    ShowAttendTell(small_caption_model("soft", "location-base"), {}, caption_shape());
  });
  ShowAttendTellOptions hard = small_caption_model();
  hard.normaliser.name = "hard";
  expect_error(ErrorKind::InvalidArgument, "model.attention=hard",
               [&] { ShowAttendTell(hard, {}, caption_shape()); });
  ShowAttendTell none(small_caption_model("none"), {}, caption_shape());
  expect_error(ErrorKind::InvalidArgument, "no cells",
               [&] { none.tell(caption_batch(1), {ShowAttendTell::Look::Drawn}); });
}

}  // namespace
}  // namespace fovea::show_attend_tell_test
