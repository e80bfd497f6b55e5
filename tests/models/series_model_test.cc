// The networks of forecasts: what each computes, and what surrounds them all.
#include <gtest/gtest.h>
#include <torch/optim.h>

#include "fovea/base/error.h"
#include "fovea/models/series_linear.h"
#include "fovea/models/series_patches.h"
#include "fovea/models/series_seq2seq.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::series_model_test {
namespace {

using at::Tensor;

constexpr int64_t kWindow = 20, kHorizon = 5;

SeriesShape shape(int64_t inputs = 2, std::vector<int64_t> targets = {0, 1}, int64_t known = 0) {
  return {kWindow, kHorizon, inputs, std::move(targets), known};
}

Batch windows(const SeriesShape& shape, int64_t rows = 3) {
  const Random random(8);
  Batch batch;
  batch.size = rows;
  const auto draw = [&](const char* name, int64_t steps, int64_t width) {
    return random.split(name).normal_tensor({rows, steps, width}, 1, 2, at::kFloat);
  };
  batch.tensors["source"] = draw("source", shape.window, shape.inputs);
  batch.tensors["source.keep"] = torch::ones({rows, shape.window}, at::kBool);
  batch.tensors["target"] = draw("target", shape.horizon, int64_t(shape.targets.size()));
  if (shape.known > 0)
    batch.tensors["known"] = draw("known", shape.window + shape.horizon, shape.known);
  return batch;
}

template <class Kind, class Options>
std::shared_ptr<Kind> make(const Options& options, const SeriesShape& shape) {
  auto model = std::make_shared<Kind>(options, shape);
  model->initialise(Random(3));
  model->eval();
  return model;
}

SeriesPatchesOptions small_patches() {
  SeriesPatchesOptions options;
  options.hidden = 8, options.heads = 2, options.layers = 1;
  options.patch_length = 4, options.patch_stride = 2;
  return options;
}

TEST(SeriesLinear, IsDLinear) {
  torch::NoGradGuard no_gradients;
  SeriesLinearOptions options;
  options.series.revin = false;
  options.moving_average = 5;
  const auto model = make<SeriesLinear>(options, shape());
  const Batch batch = windows(shape());
  const auto parameters = model->named_parameters();
  const Tensor x = batch.at("source").transpose(1, 2);  // [B, F, S]
  const Tensor padded = at::cat(
      {x.narrow(2, 0, 1).expand({-1, -1, 2}), x, x.narrow(2, kWindow - 1, 1).expand({-1, -1, 2})},
      2);
  const Tensor trend = padded.unfold(2, 5, 1).mean(-1);  // [B, F, S]
  const Tensor wanted = at::matmul(trend, parameters["trend"][0].t()) +
                        at::matmul(x - trend, parameters["seasonal"][0].t()) +
                        parameters["bias"][0];
  EXPECT_TRUE(model->predict(batch).values.allclose(wanted.transpose(1, 2).flatten(1), 1e-4, 1e-5));
}

TEST(SeriesLinear, ContributionsAddUpToTheForecast) {
  torch::NoGradGuard no_gradients;
  for (const bool shared : {true, false})
    for (const std::vector<int64_t>& targets : {std::vector<int64_t>{0, 1}, {1, -1}}) {
      SeriesLinearOptions options;
      options.shared = shared;
      options.series.revin = false;
      const auto model = make<SeriesLinear>(options, shape(2, targets));
      const Batch batch = windows(shape(2, targets));
      Tap tap;
      const Tensor replayed = model->replay(batch, {}, &tap);
      EXPECT_TRUE(replayed.allclose(model->predict(batch).values, 1e-4, 1e-5));
      const AttentionMap& map = tap.map("contribution");
      EXPECT_EQ(map.weights.sizes(), (at::IntArrayRef{3, 2, kHorizon, kWindow}));
      // Without bias, which begins as 0.
      EXPECT_TRUE(map.weights.sum(-1).transpose(1, 2).flatten(1).allclose(replayed, 1e-4, 1e-5));
    }
}

TEST(SeriesModel, RevinFollowsLevelAndSize) {
  torch::NoGradGuard no_gradients;
  const auto check = [](const Model& model) {
    const Batch batch = windows(shape());
    Batch moved = batch;
    moved.tensors["source"] = batch.at("source") * 30 + 500;
    const Tensor wanted = model.predict(batch).values * 30 + 500;
    EXPECT_TRUE(model.predict(moved).values.allclose(wanted, 1e-3, 1e-2));
  };
  check(*make<SeriesLinear>(SeriesLinearOptions{}, shape()));
  check(*make<SeriesPatches>(small_patches(), shape()));
  Seq2SeqOptions options;
  options.hidden = options.embedding = 8;
  SequenceShape sequence;
  sequence.source_width = sequence.target_width = 2;
  sequence.horizon = kHorizon;
  RevinSeq2Seq seq2seq(options, sequence, shape());
  seq2seq.initialise(Random(1));
  seq2seq.eval();
  check(seq2seq);
}

TEST(SeriesModel, IndependentChannelsDoNotSeeEachOther) {
  torch::NoGradGuard no_gradients;
  const auto other_channel_matters = [](const Model& model) {
    const Batch batch = windows(shape());
    Batch changed = batch;
    changed.tensors["source"] = batch.at("source").clone();
    changed.tensors["source"].select(2, 1).add_(torch::arange(kWindow));
    const auto first = [&](const Batch& rows) {
      return model.predict(rows).values.view({3, kHorizon, 2}).select(2, 0);
    };
    return !first(changed).allclose(first(batch), 1e-5, 1e-6);
  };
  SeriesPatchesOptions patches = small_patches();
  EXPECT_FALSE(other_channel_matters(*make<SeriesPatches>(patches, shape())));
  patches.series.channels = "mixed";
  EXPECT_TRUE(other_channel_matters(*make<SeriesPatches>(patches, shape())));
  SeriesLinearOptions linear;
  EXPECT_FALSE(other_channel_matters(*make<SeriesLinear>(linear, shape())));
  linear.series.channels = "independent";
  testing::expect_error(ErrorKind::InvalidArgument, {"not every target is an input"},
                        [&] { SeriesLinear(linear, shape(1, {-1})); });
}

TEST(SeriesPatches, EqualWeightsAreOneMatrixOverAllPatches) {
  torch::NoGradGuard no_gradients;
  const auto model = make<SeriesPatches>(small_patches(), shape());
  const Batch batch = windows(shape());
  Tap tap;
  Tensor uniform;
  tap.replace("attention", [&](const AttentionMap& map) {
    return uniform = torch::full_like(map.weights, 1. / double(map.weights.size(-1)));
  });
  const Tensor equal = model->replay(batch, {}, &tap);
  EXPECT_EQ(uniform.sizes(), (at::IntArrayRef{3, 2, kHorizon, model->places().count()}));
  model->named_parameters()["query"].zero_();
  EXPECT_TRUE(model->predict(batch).values.allclose(equal, 1e-4, 1e-5));
  Tap look;
  EXPECT_TRUE(model->replay(batch, {}, &look).allclose(equal, 1e-4, 1e-5));
  EXPECT_EQ(check_map(look.map("attention")), "");
}

TEST(SeriesPatches, PlacesAreThoseOfThePaper) {
  SeriesPatchesOptions overlapping;
  overlapping.patch_stride = 8;
  const PatchPlaces places(336, overlapping);
  EXPECT_EQ(places.count(), 42);
  EXPECT_EQ(places.length, 16);
  EXPECT_EQ(places.steps[0].front(), 0);
  EXPECT_EQ(places.steps[41].front(), 328);
  EXPECT_EQ(places.steps[41].back(), 335);                          // repeated
  EXPECT_EQ(PatchPlaces(336, SeriesPatchesOptions{}).count(), 21);  // side by side
  EXPECT_EQ(PatchPlaces(336, SeriesPatchesOptions{}).steps[20].back(), 335);
  EXPECT_EQ(PatchPlaces(1, SeriesPatchesOptions{}).count(), 1);
  EXPECT_EQ(PatchPlaces(24, SeriesPatchesOptions{}).length, 3);
}

TEST(SeriesModel, QuantilesAscendAndTheMiddleIsTheForecast) {
  torch::NoGradGuard no_gradients;
  SeriesLinearOptions options;
  options.series.quantiles = {"0.1", "0.5", "0.9"};
  const auto model = make<SeriesLinear>(options, shape());
  const Tensor values = model->predict(windows(shape())).values;
  EXPECT_EQ(values.size(1), kHorizon * 2 * 4);
  const Tensor levels = values.narrow(1, kHorizon * 2, kHorizon * 2 * 3).view({3, -1, 3});
  EXPECT_TRUE((levels.select(2, 0) <= levels.select(2, 1)).all().item<bool>());
  EXPECT_TRUE((levels.select(2, 1) <= levels.select(2, 2)).all().item<bool>());
  EXPECT_TRUE(levels.select(2, 1).equal(values.narrow(1, 0, kHorizon * 2)));
  for (const char* wrong : {"0", "1", "x"}) {
    options.series.quantiles = {wrong};
    testing::expect_error(ErrorKind::InvalidArgument, {"model.quantiles", wrong},
                          [&] { SeriesLinear(options, shape()); });
  }
}

/// A network that can only say a constant learns the quantiles of noise.
TEST(SeriesModel, PinballLossFindsQuantiles) {
  SeriesLinearOptions options;
  options.series.quantiles = {"0.1", "0.9"};
  options.series.revin = false;
  const SeriesShape one{1, 1, 1, {0}, 0};
  SeriesLinear model(options, one);
  model.initialise(Random(1));
  Batch batch;
  batch.size = 2000;
  batch.tensors["source"] = torch::zeros({2000, 1, 1});
  batch.tensors["target"] = Random(2).uniform_tensor({2000, 1, 1}, 0, 1, at::kFloat);
  torch::optim::Adam optimiser(model.parameters(), torch::optim::AdamOptions(0.02));
  for (int step = 0; step < 300; ++step) {
    optimiser.zero_grad();
    model.loss(batch, {Random(1), step}).objective.backward();
    optimiser.step();
  }
  const Tensor values = model.predict(batch).values[0];
  EXPECT_NEAR(values[1].item<double>(), 0.1, 0.05);
  EXPECT_NEAR(values[2].item<double>(), 0.9, 0.05);
}

TEST(SeriesModel, WhatIsKnownShiftsPastAndFuture) {
  const SeriesShape with_known = shape(1, {0}, 1);
  SeriesLinear model(SeriesLinearOptions{}, with_known);
  model.initialise(Random(4));
  Batch batch = windows(with_known, 64);
  const Tensor base = Random(5).normal_tensor({64, 1, 1}, 0, 1, at::kFloat);
  const Tensor known = (batch.at("known") > 1).to(at::kFloat);  // a holiday, say
  batch.tensors["known"] = known;
  batch.tensors["source"] = base + 3 * known.narrow(1, 0, kWindow);
  batch.tensors["target"] = base + 3 * known.narrow(1, kWindow, kHorizon);
  torch::optim::Adam optimiser(model.parameters(), torch::optim::AdamOptions(0.02));
  for (int step = 0; step < 600; ++step) {
    optimiser.zero_grad();
    model.loss(batch, {Random(1), step}).objective.backward();
    optimiser.step();
  }
  EXPECT_LT(model.loss(batch, {Random(1), 0}).objective.item<double>(), 0.05);
  EXPECT_NEAR(model.named_parameters()["effect.weight"].item<double>(), 3, 0.3);
}

}  // namespace
}  // namespace fovea::series_model_test
