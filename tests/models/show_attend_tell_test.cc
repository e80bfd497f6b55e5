// What the caption model must do: with every kind of attention, held against PyTorch, and, for hard
// attention, with an estimator that is right in the mean.
#include "fovea/models/show_attend_tell.h"

#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "tests/models/contract.h"
#include "tests/models/sequence_contract.h"
#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"

namespace fovea {
namespace {

using namespace testing;  // contract.h, sequence_contract.h

constexpr int64_t kSide = 16, kSymbols = 12;

ShowAttendTellOptions small(const std::string& attention = "soft",
                            const std::string& score = "additive") {
  ShowAttendTellOptions options;
  options.encoder.channels = {6, 8};
  options.encoder.convolutions = 1;
  options.embedding = 10;
  options.hidden = score == "dot" ? 8 : 12;
  options.attention = attention;
  options.dropout = options.word_dropout = options.label_smoothing = 0;
  options.score.name = score;
  options.score.hidden_size = 8;
  options.semi_sampling = 0;
  return options;
}

CaptionShape shape() {
  CaptionShape shape;
  shape.symbols = kSymbols;
  shape.image_size = kSide;
  shape.longest = 8;
  return shape;
}

/// Pictures with a bright quarter, captions of 1 to 4 words that depend on which one it is.
Batch caption_batch(int64_t rows, int64_t extra = 0) {
  Batch batch{{}, rows};
  at::Tensor images =
      Random(3).uniform_tensor({rows, 3, kSide, kSide}, 0, 60, at::kFloat).to(at::kByte);
  at::Tensor target = torch::zeros({rows, 5 + extra}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t quarter = row % 4, half = kSide / 2;
    images[row].narrow(1, quarter / 2 * half, half).narrow(2, quarter % 2 * half, half).fill_(220);
    for (int64_t t = 0; t <= quarter; ++t) target[row][t] = 4 + (quarter + t + row / 4) % 8;
    target[row][quarter + 1] = 3;
  }
  batch.tensors = {{"image", images}, {"target", target}, {"target.keep", target != 0}};
  return batch;
}

struct Case {
  std::string name, attention, score;
};

const Case kCases[] = {{"soft", "soft", "additive"},         {"hard", "hard", "additive"},
                       {"none", "none", "additive"},         {"dot", "soft", "dot"},
                       {"scaled_dot", "soft", "scaled-dot"}, {"general", "soft", "general"},
                       {"content", "soft", "content"}};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class CaptionContract : public ::testing::TestWithParam<Case> {
 protected:
  /// Fresh weights are small: larger ones tell paths apart.
  std::shared_ptr<ShowAttendTell> fresh(uint64_t seed = 1, SearchOptions search = {},
                                        double scale = 2) const {
    ShowAttendTellOptions options = small(GetParam().attention, GetParam().score);
    if (GetParam().score == "scaled-dot" || GetParam().score == "content") options.hidden = 8;
    auto model = std::make_shared<ShowAttendTell>(options, search, shape());
    model->initialise(Random(seed));
    torch::NoGradGuard no_gradients;
    for (auto& parameter : model->parameters()) parameter.mul_(scale);
    return model;
  }
  bool attends() const { return GetParam().attention != "none"; }
};

TEST_P(CaptionContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(caption_batch(3), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(CaptionContract, OverfitsEightExamples) {
  auto model = fresh(1, {}, 1);
  const Batch rows = caption_batch(8);
  const auto nats = [&] { return model->negative_log_likelihood(rows).first; };
  const double before = nats();
  overfit(*model, rows, 0.01, 120);
  EXPECT_LT(nats(), 0.2 * before);
}

TEST_P(CaptionContract, ReplayOfWhatWasFoundHasItsProbability) {
  for (const std::string method : {"greedy", "beam", "sample"}) {
    SearchOptions search;
    search.method = method;
    search.beam = 3;
    search.length_penalty = 0;
    const auto model = fresh(2, search);
    torch::NoGradGuard no_gradients;
    const Batch rows = caption_batch(5);
    const Predictions found = model->predict(rows);
    Tap tap;
    const at::Tensor replayed = model->replay(rows, found, &tap).sum(1);  // [B]
    for (int64_t row = 0; row < 5; ++row)
      EXPECT_NEAR(replayed[row].item<double>(), found.outputs[size_t(row)][0].log_probability, 1e-4)
          << method << " " << row;
  }
}

TEST_P(CaptionContract, APictureAnswersTheSameAloneAndAmongOthers) {
  const auto model = fresh(3);
  const Batch rows = caption_batch(6);
  const Predictions together = model->predict(rows);
  for (int64_t row = 0; row < 6; ++row)
    EXPECT_EQ(model->predict(row_of(rows, row)).outputs[0][0].tokens,
              together.outputs[size_t(row)][0].tokens);
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
  model->to(at::kDouble);
  const Batch rows = caption_batch(4);
  EXPECT_LT(gradient_error(
                [&] {
                  return model->loss(rows, {Random(1), 0}).objective;
                },
                model->parameters(), {3, 1e-7, 1}),
            1e-5)
      << "a small step: ReLU and max pooling have corners";
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
    take_parameters(model, own["parameters"]);
    const Loss loss = model.loss(rows, {Random(1), 0});
    EXPECT_NEAR(loss.objective.item<double>(), own["loss"].get<double>(), 1e-10);
    loss.objective.backward();
    expect_gradients_of(model, own["gradients"]);
    Tap tap;
    const at::Tensor logs = model.replay(rows, predictions_of(target), &tap);
    for (int64_t row = 0; row < 3; ++row) {
      const at::Tensor wanted = packed(own["log_probabilities"][size_t(row)]);
      EXPECT_LT(largest_difference(logs[row].narrow(0, 0, wanted.size(0)), wanted), 1e-10);
      if (options.attention == "none") continue;
      const at::Tensor weights = packed(own["weights"][size_t(row)]);
      EXPECT_LT(largest_difference(
                    tap.map("attention").weights[row][0].narrow(0, 0, weights.size(0)), weights),
                1e-10);
    }
  }
}

/// A model of four cells for captions of two words, in float64.
std::shared_ptr<ShowAttendTell> toy(double entropy_weight = 0) {
  ShowAttendTellOptions options = small("hard");
  options.encoder.channels = {3, 4, 5};
  options.reward_weight = 1;
  options.entropy_weight = entropy_weight;
  CaptionShape four = shape();
  four.image_size = 16;
  auto model = std::make_shared<ShowAttendTell>(options, SearchOptions{}, four);
  model->initialise(Random(4));
  torch::NoGradGuard no_gradients;
  for (auto& parameter : model->parameters()) parameter.mul_(2.5);
  model->to(at::kDouble);
  return model;
}

Batch one_caption() {
  Batch batch = row_of(caption_batch(2), 0);
  batch.tensors["target"] = torch::tensor({{5, 3}}, at::kLong);
  batch.tensors["target.keep"] = batch.at("target") != 0;
  return batch;
}

/// Every way to look at four cells while two words are told.
std::vector<at::Tensor> all_choices() {
  std::vector<at::Tensor> choices;
  for (int64_t first = 0; first < 4; ++first)
    for (int64_t second = 0; second < 4; ++second)
      choices.push_back(torch::tensor({{first, second}}, at::kLong));
  return choices;
}

std::vector<at::Tensor> gradients_of(const at::Tensor& scalar, const ShowAttendTell& model) {
  auto gradients = torch::autograd::grad({scalar}, model.parameters(), {}, false, false, true);
  const auto parameters = model.parameters();
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = torch::zeros_like(parameters[i]);
  return gradients;
}

// The gradient that a draw gives, times the probability of the draw, summed over all draws, is the
// gradient of the expectation: whatever the baseline.
TEST(ShowAttendTell, TheHardEstimatorIsUnbiased) {
  const auto model = toy();
  ASSERT_EQ(model->grid(), 2);
  const Batch rows = one_caption();
  at::Tensor expectation = torch::zeros({}, at::kDouble);
  double total = 0;
  for (const at::Tensor& chosen : all_choices()) {
    const auto told = model->tell_hard(rows, {true, nullptr, chosen, {}});
    expectation = expectation - (told.log_choices.exp() * told.log_probability).sum();
    total += told.log_choices.exp().item<double>();
  }
  EXPECT_NEAR(total, 1, 1e-12) << "all draws were counted";
  const auto exact = gradients_of(expectation, *model);
  for (const double baseline : {0.0, -3.0, 2.5}) {
    std::vector<at::Tensor> mean;
    for (const at::Tensor& parameter : model->parameters())
      mean.push_back(torch::zeros_like(parameter));
    for (const at::Tensor& chosen : all_choices()) {
      const auto told = model->tell_hard(rows, {true, nullptr, chosen, {}});
      const double probability = told.log_choices.exp().item<double>();
      const auto one = gradients_of(
          model->hard_objective(told, torch::full({}, baseline, at::kDouble)).sum(), *model);
      for (size_t i = 0; i < one.size(); ++i) mean[i] += probability * one[i];
    }
    double largest = 0;
    for (size_t i = 0; i < mean.size(); ++i) {
      EXPECT_LT(largest_difference(mean[i], exact[i]), 1e-12) << "baseline " << baseline;
      largest = std::max(largest, exact[i].abs().max().item<double>());
    }
    EXPECT_GT(largest, 1e-3) << "there was something to find";
  }
}

// The same for what a training step really draws: the shares of the draws are the probabilities.
TEST(ShowAttendTell, DrawsComeAsOftenAsTheirProbability) {
  const auto model = toy();
  const Batch one = one_caption();
  constexpr int64_t kRows = 4000;
  Batch rows{{}, kRows};
  for (const auto& [name, tensor] : one.tensors) {
    std::vector<int64_t> sizes = tensor.sizes().vec();
    sizes[0] = kRows;
    rows.tensors[name] = tensor.expand(sizes);
  }
  torch::NoGradGuard no_gradients;
  const Random random(8);
  const auto told = model->tell_hard(rows, {true, &random, {}, {}});
  double exact = 0, square = 0;
  for (const at::Tensor& chosen : all_choices()) {
    const auto each = model->tell_hard(one, {true, nullptr, chosen, {}});
    const double p = each.log_choices.exp().item<double>();
    exact += p * each.log_probability.item<double>();
    square += p * std::pow(each.log_probability.item<double>(), 2);
  }
  const double deviation = std::sqrt((square - exact * exact) / double(kRows));
  EXPECT_NEAR(told.log_probability.mean().item<double>(), exact, 4 * deviation);
  EXPECT_GT(deviation, 0);
}

TEST(ShowAttendTell, TheEntropyIsThatOfTheCells) {
  const auto model = toy(0.5);
  const Batch rows = one_caption();
  const auto told = model->tell_hard(rows, {true, nullptr, all_choices()[5], {}});
  EXPECT_GT(told.entropy.item<double>(), 0);
  EXPECT_LT(told.entropy.item<double>(), 2 * std::log(4.0) + 1e-9);
  const at::Tensor zero = torch::zeros({}, at::kDouble);
  const double with = model->hard_objective(told, zero).item<double>(),
               without = toy(0)->hard_objective(told, zero).item<double>();
  EXPECT_NEAR(without - with, 0.5 * told.entropy.item<double>(), 1e-12);
}

TEST(ShowAttendTell, SemiSamplingUsesTheExpectation) {
  const auto model = toy();
  const Batch rows = one_caption();
  const at::Tensor all = torch::ones({1}, at::kBool);
  const auto told = model->tell_hard(rows, {true, nullptr, all_choices()[0], all});
  EXPECT_EQ(told.log_choices.item<double>(), 0);
  ShowAttendTellOptions options = model->options();
  options.answers = "expectation";
  CaptionShape four = shape();
  ShowAttendTell expecting(options, {}, four);
  expecting.to(at::kDouble);
  torch::NoGradGuard no_gradients;
  const auto from = model->named_parameters();
  for (auto& item : expecting.named_parameters()) item.value().copy_(from[item.key()]);
  EXPECT_NEAR(-expecting.negative_log_likelihood(rows).first, told.log_probability.item<double>(),
              1e-9);
}

// b moves by a tenth of the way at each batch, and parts of one batch count as one.
TEST(ShowAttendTell, TheBaselineMovesOncePerBatch) {
  ShowAttendTellOptions options = small("hard");
  ShowAttendTell model(options, {}, shape());
  model.initialise(Random(1));
  const auto baseline = [&] { return model.named_buffers()["baseline"].item<double>(); };
  const auto mean_of = [&](const Batch& rows, int64_t step) {
    return model.loss(rows, {Random(uint64_t(step)), step})
        .scalars.at("log_probability")
        .item<double>();
  };
  const Batch rows = caption_batch(8);
  const auto batches = [&] { return model.named_buffers()["baseline_batches"].item<int64_t>(); };
  EXPECT_EQ(batches(), 0);
  const double first = (mean_of(row_of(rows, 0), 0) + mean_of(row_of(rows, 3), 0)) / 2;
  EXPECT_EQ(batches(), 0) << "the batch is not over";
  const double second = mean_of(rows, 1);
  EXPECT_NEAR(baseline(), first, 1e-5);
  mean_of(rows, 2);
  EXPECT_NEAR(baseline(), 0.9 * first + 0.1 * second, 1e-5);
}

TEST(ShowAttendTell, ThePenaltyIsZeroWhenEveryCellIsLookedAtOnce) {
  // One cell and one word: all attention is on it, once.
  ShowAttendTellOptions options = small();
  options.encoder.channels = {3, 4, 5, 6};
  options.positions = false;
  Batch rows = row_of(caption_batch(1), 0);
  rows.tensors["target"] = torch::tensor({{3}}, at::kLong);
  rows.tensors["target.keep"] = torch::ones({1, 1}, at::kBool);
  const auto loss = [&](double penalty) {
    options.penalty = penalty;
    ShowAttendTell model(options, {}, shape());
    model.initialise(Random(1));
    return loss_of(model, rows);
  };
  EXPECT_NEAR(loss(0), loss(7), 1e-5);
  rows.tensors["target"] = torch::tensor({{5, 3}}, at::kLong);
  rows.tensors["target.keep"] = torch::ones({1, 2}, at::kBool);
  EXPECT_NEAR(loss(7) - loss(0), 7.0 * 1 / 2, 1e-4) << "looked at twice: (1 - 2)^2, over two words";
}

TEST(ShowAttendTell, AFrozenEncoderDoesNotLearn) {
  ShowAttendTellOptions options = small();
  options.encoder.freeze = true;
  ShowAttendTell model(options, {}, shape());
  model.initialise(Random(1));
  model.loss(caption_batch(4), {Random(1), 0}).objective.backward();
  for (const auto& item : model.named_parameters()) {
    const bool frozen = item.key().starts_with("encoder.");
    EXPECT_EQ(model.rule_of(item.key()).rate, frozen ? 0 : 1) << item.key();
    EXPECT_EQ(item.value().grad().defined(), !frozen) << item.key();
  }
}

TEST(ShowAttendTell, WhatCannotBeIsRefused) {
  CaptionShape odd = shape();
  odd.image_size = 18;
  expect_error(ErrorKind::InvalidArgument, {"data.image_size", "multiple"},
               [&] { ShowAttendTell(small(), {}, odd); });
  expect_error(ErrorKind::InvalidArgument, "grid",
               [&] { ShowAttendTell(small("soft", "location-base"), {}, shape()); });
  ShowAttendTellOptions hard = small();
  hard.normaliser.name = "hard";
  expect_error(ErrorKind::InvalidArgument, "model.attention=hard",
               [&] { ShowAttendTell(hard, {}, shape()); });
  ShowAttendTell none(small("none"), {}, shape());
  expect_error(ErrorKind::InvalidArgument, "no cells", [&] {
    none.tell_hard(caption_batch(1), {true, nullptr, {}, {}});
  });
}

}  // namespace
}  // namespace fovea
