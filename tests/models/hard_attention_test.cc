// Hard attention of the caption model: draws, and an estimator of its gradient that is right in the
// mean, held against the sum over all draws of a toy.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/models/caption_batch.h"
#include "tests/models/contract.h"
#include "tests/models/sequence_contract.h"

namespace fovea::hard_attention_test {
namespace {

using namespace testing;  // caption_batch.h, contract.h, sequence_contract.h

/// A model of four cells for captions of two words, in float64.
std::shared_ptr<ShowAttendTell> toy(double entropy_weight = 0) {
  ShowAttendTellOptions options = small_caption_model("hard");
  options.encoder.channels = {3, 4, 5};
  options.reward_weight = 1;
  options.entropy_weight = entropy_weight;
  CaptionShape four = caption_shape();
  four.image_size = 16;
  auto model = std::make_shared<ShowAttendTell>(options, SearchOptions{}, four);
  model->initialise(Random(4));
  torch::NoGradGuard no_gradients;
  for (auto& parameter : model->parameters()) parameter.mul_(2.5);
  model->to(at::kDouble);
  return model;
}

Batch caption_of(const std::vector<int64_t>& words) {
  Batch batch = row_of(caption_batch(2), 0);
  batch.tensors["target"] = torch::tensor(words, at::kLong).unsqueeze(0);
  batch.tensors["target.keep"] = batch.at("target") != 0;
  return batch;
}

Batch one_caption() {
  return caption_of({5, 3});
}

/// Every way to look at four cells while so many words are told: [1, words] each.
std::vector<at::Tensor> all_choices(int64_t words = 2) {
  std::vector<at::Tensor> choices;
  for (int64_t number = 0; number < int64_t{1} << (2 * words); ++number) {
    std::vector<int64_t> cells;
    for (int64_t word = 0; word < words; ++word) cells.push_back(number >> (2 * word) & 3);
    choices.push_back(torch::tensor(cells, at::kLong).unsqueeze(0));
  }
  return choices;
}

std::vector<at::Tensor> gradients_of(const at::Tensor& scalar, const ShowAttendTell& model) {
  auto gradients = torch::autograd::grad({scalar}, model.parameters(), {}, false, false, true);
  const auto parameters = model.parameters();
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = torch::zeros_like(parameters[i]);
  return gradients;
}

using Look = ShowAttendTell::Look;

ShowAttendTell::Told with_cells(const ShowAttendTell& model, const Batch& rows,
                                const at::Tensor& chosen) {
  return model.tell(rows, {Look::Drawn, nullptr, chosen});
}

double probability_of(const ShowAttendTell::Told& told) {
  return told.log_choices.sum().exp().item<double>();
}

/// How draws of cells are rewarded.
using Rewards = std::function<at::Tensor(const ShowAttendTell::Told&)>;

Rewards above(double baseline) {
  return [=](const ShowAttendTell::Told& told) {
    return ShowAttendTell::rewards_above(told, torch::full({1}, baseline, at::kDouble));
  };
}

Rewards above_softly(const ShowAttendTell& model, const Batch& rows) {
  return [softly = model.tell(rows, {})](const ShowAttendTell::Told& told) {
    return ShowAttendTell::rewards_above(told, softly);
  };
}

/// Mean over all draws of the gradient that each gives, and the sum of its variances.
struct Estimate {
  std::vector<at::Tensor> mean;
  double variance = 0;
};

Estimate estimate(const ShowAttendTell& model, const Batch& rows, const Rewards& rewards) {
  Estimate result;
  for (const at::Tensor& parameter : model.parameters())
    result.mean.push_back(torch::zeros_like(parameter));
  for (const at::Tensor& chosen : all_choices(rows.at("target").size(1))) {
    const auto told = with_cells(model, rows, chosen);
    const auto one = gradients_of(model.hard_objective(told, rewards(told)).sum(), model);
    for (size_t i = 0; i < one.size(); ++i) {
      result.mean[i] += probability_of(told) * one[i];
      result.variance += probability_of(told) * one[i].square().sum().item<double>();
    }
  }
  for (const at::Tensor& mean : result.mean) result.variance -= mean.square().sum().item<double>();
  return result;
}

/// E_s log p(y | s)
at::Tensor expectation_of(const ShowAttendTell& model, const Batch& rows) {
  at::Tensor sum = torch::zeros({}, at::kDouble);
  double total = 0;
  for (const at::Tensor& chosen : all_choices(rows.at("target").size(1))) {
    const auto told = with_cells(model, rows, chosen);
    sum = sum + told.log_choices.sum().exp() * told.log_probability.sum();
    total += probability_of(told);
  }
  EXPECT_NEAR(total, 1, 1e-12) << "all draws were counted";
  return sum;
}

// The gradient that a draw gives, times the probability of the draw, summed over all draws, is the
// gradient of the expectation: whatever the baseline.
TEST(HardAttention, TheHardEstimatorIsUnbiased) {
  const auto model = toy();
  ASSERT_EQ(model->grid(), 2);
  const Batch rows = one_caption();
  const auto exact = gradients_of(-expectation_of(*model, rows), *model);
  for (const Rewards& rewards : {above(0), above(-3), above(2.5), above_softly(*model, rows)}) {
    const Estimate found = estimate(*model, rows, rewards);
    double largest = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_LT(largest_difference(found.mean[i], exact[i]), 1e-12);
      largest = std::max(largest, exact[i].abs().max().item<double>());
    }
    EXPECT_GT(largest, 1e-3) << "there was something to find";
  }
}

// One number cannot be what both a short and a long caption are held against.
TEST(HardAttention, TheSoftBaselineLowersTheVarianceOverCaptions) {
  const auto model = toy();
  const Batch captions[] = {one_caption(), caption_of({5, 6, 3})};
  double mean = 0, soft = 0, moving = 0;
  for (const Batch& rows : captions) mean += expectation_of(*model, rows).item<double>() / 2;
  for (const Batch& rows : captions) {
    soft += estimate(*model, rows, above_softly(*model, rows)).variance;
    moving += estimate(*model, rows, above(mean)).variance;
  }
  EXPECT_LT(soft, 0.8 * moving);
}

// The same for what a training step really draws: the shares of the draws are the probabilities.
TEST(HardAttention, DrawsComeAsOftenAsTheirProbability) {
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
  const auto told = model->tell(rows, {Look::Drawn, &random});
  double exact = 0, square = 0;
  for (const at::Tensor& chosen : all_choices()) {
    const auto each = with_cells(*model, one, chosen);
    const double p = probability_of(each), log = each.log_probability.sum().item<double>();
    exact += p * log;
    square += p * log * log;
  }
  const double deviation = std::sqrt((square - exact * exact) / double(kRows));
  EXPECT_NEAR(told.log_probability.sum(1).mean().item<double>(), exact, 4 * deviation);
  EXPECT_GT(deviation, 0);
}

TEST(HardAttention, TheEntropyIsThatOfTheCells) {
  const auto model = toy(0.5);
  const auto told = with_cells(*model, one_caption(), all_choices()[5]);
  const double entropy = told.entropy.sum().item<double>();
  EXPECT_GT(entropy, 0);
  EXPECT_LT(entropy, 2 * std::log(4.0) + 1e-9);
  const at::Tensor none = torch::zeros({1, 2}, at::kDouble);
  const double with = model->hard_objective(told, none).item<double>(),
               without = toy(0)->hard_objective(told, none).item<double>();
  EXPECT_NEAR(without - with, 0.5 * entropy, 1e-12);
}

TEST(HardAttention, SemiSamplingIsAShareOfTheSoftLoss) {
  const Batch rows = caption_batch(4);
  const auto loss = [&](const std::string& attention, double share) {
    ShowAttendTellOptions options = small_caption_model(attention);
    options.semi_sampling = share;
    ShowAttendTell model(options, {}, caption_shape());
    model.initialise(Random(1));
    return loss_of(model, rows);
  };
  EXPECT_NEAR(loss("hard", 1), loss("soft", 0), 1e-5);
  EXPECT_NEAR(loss("hard", 0.25), 0.75 * loss("hard", 0) + 0.25 * loss("soft", 0), 1e-5);
}

TEST(HardAttention, AnswersMayLookAtTheExpectation) {
  const auto likeliest = toy();
  ShowAttendTellOptions options = likeliest->options();
  options.answers_softly = true;
  ShowAttendTell softly(options, {}, caption_shape());
  softly.to(at::kDouble);
  torch::NoGradGuard no_gradients;
  const auto from = likeliest->named_parameters();
  for (auto& item : softly.named_parameters()) item.value().copy_(from[item.key()]);
  const auto nats = [](const ShowAttendTell& model, Look how) {
    return -model.tell(one_caption(), {how}).log_probability.sum().item<double>();
  };
  EXPECT_NEAR(softly.negative_log_likelihood(one_caption()).first, nats(softly, Look::Softly),
              1e-9);
  EXPECT_NEAR(likeliest->negative_log_likelihood(one_caption()).first,
              nats(softly, Look::Likeliest), 1e-9);
  EXPECT_NE(nats(softly, Look::Softly), nats(softly, Look::Likeliest));
}

// b moves by a tenth of the way at each batch, and parts of one batch count as one.
TEST(HardAttention, TheBaselineMovesOncePerBatch) {
  ShowAttendTellOptions options = small_caption_model("hard");
  options.baseline = "moving";
  ShowAttendTell model(options, {}, caption_shape());
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

}  // namespace
}  // namespace fovea::hard_attention_test
