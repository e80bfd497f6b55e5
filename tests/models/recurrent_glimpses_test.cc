#include "fovea/models/recurrent_glimpses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "tests/models/contract.h"
#include "tests/models/picture_batch.h"
#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"

namespace fovea::recurrent_glimpses_test {
namespace {

using namespace testing;  // contract.h, picture_batch.h

RecurrentGlimpsesOptions small() {
  RecurrentGlimpsesOptions options;
  options.glimpses = 3, options.patch = 4, options.scales = 2;
  options.glimpse_hidden = 6, options.hidden = 8;
  options.evaluation_samples = 4;
  return options;
}

std::shared_ptr<RecurrentGlimpses> fresh(const RecurrentGlimpsesOptions& options = small(),
                                         uint64_t seed = 1) {
  auto model = std::make_shared<RecurrentGlimpses>(options, picture_input());
  model->initialise(Random(seed));
  return model;
}

TEST(RecurrentGlimpses, EqualsPyTorch) {
  const Json reference = golden("glimpses");
  const at::Tensor pictures = packed(reference["pictures"]), draws = packed(reference["draws"]);
  for (const Json& own : reference["cases"]) {
    RecurrentGlimpsesOptions options;
    options.glimpses = draws.size(2);
    options.patch = reference["patch"].get<int64_t>();
    options.scales = own["scales"].get<int64_t>();
    options.glimpse_hidden = reference["glimpse_hidden"].get<int64_t>();
    options.hidden = reference["hidden"].get<int64_t>();
    options.means = own["means"].get<std::string>();
    SCOPED_TRACE(options.means);
    RecurrentGlimpses model(options, {reference["classes"].get<int64_t>(), pictures.size(1),
                                      pictures.size(2), pictures.size(3), 3, 4});
    take_parameters(model, own["parameters"]);
    const Batch batch{{{"image", pictures}, {"target", tensor_of(reference["target"], at::kLong)}},
                      pictures.size(0)};
    const Loss loss = model.loss_along(batch, draws, reference["sigma"].get<double>());
    loss.objective.backward();
    EXPECT_NEAR(loss.objective.item<double>(), own["loss"].get<double>(), 1e-10);
    for (const char* name : {"cross_entropy", "reward", "baseline"})
      EXPECT_NEAR(loss.scalars.at(name).item<double>(), own[name].get<double>(), 1e-10) << name;
    expect_gradients_of(model, own["gradients"]);
    Predictions places;
    places.actions = draws.clamp(-1, 1);
    places.scores = packed(own["scores"]).mean(1);  // [B, C]
    Tap tap;
    EXPECT_LT(largest_difference(model.replay(batch, places, &tap),
                                 std::get<0>(places.scores.max(1, true)).log()),
              1e-12);
  }
}

TEST(RecurrentGlimpses, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(picture_batch(4), [](uint64_t seed) { return fresh(small(), seed); });
  RecurrentGlimpsesOptions options = small();
  options.places = "random";
  expect_schema_and_seeds(picture_batch(4), [&](uint64_t seed) { return fresh(options, seed); });
}

TEST(RecurrentGlimpses, OverfitsEightPictures) {
  for (const char* places : {"learned", "random"}) {
    RecurrentGlimpsesOptions options = small();
    options.places = places;
    options.hidden = options.glimpse_hidden = 24;
    options.samples = 4;
    const auto model = fresh(options);
    const Batch rows = picture_batch(8);
    torch::optim::Adam optimiser(model->parameters(), torch::optim::AdamOptions(0.01));
    for (int step = 0; step < 300; ++step) {  // new draws in every one
      optimiser.zero_grad();
      model->loss(rows, {Random(uint64_t(step)), step}).objective.backward();
      expect_gradients(*model);
      optimiser.step();
    }
    const at::Tensor guesses = model->predict(rows).scores.argmax(1);
    EXPECT_GE((guesses == rows.at("target")).sum().item<int64_t>(), 7) << places;
  }
}

TEST(RecurrentGlimpses, AnAnswerDependsOnThePictureAlone) {
  const auto model = fresh();
  const Batch rows = picture_batch(5);
  const Predictions together = model->predict(rows);
  EXPECT_EQ(together.actions.sizes(), at::IntArrayRef({5, 4, 3, 2}));
  for (int64_t row = 0; row < 5; ++row) {
    const Predictions alone = model->predict(row_of(rows, row));
    EXPECT_LT(largest_difference(alone.actions[0], together.actions[row]), 1e-5);
    EXPECT_LT(largest_difference(alone.scores[0], together.scores[row]), 1e-5);
  }
  EXPECT_GT(largest_difference(together.actions[0], together.actions[1]), 0.01)
      << "another picture, another first place";
}

TEST(RecurrentGlimpses, AReplayRepeatsThePrediction) {
  const auto model = fresh();
  const Batch rows = picture_batch(5);
  const Predictions predictions = model->predict(rows);
  Tap tap;
  const at::Tensor again = model->replay(rows, predictions, &tap);
  EXPECT_LT(largest_difference(again.exp(), std::get<0>(predictions.scores.max(1, true))), 1e-5);
  for (const AttentionMap& map : tap.maps()) EXPECT_EQ(check_map(map), "") << map.name;
  const at::Tensor points = tap.map("glimpses").weights;  // [B, M, T, 2 + scales]
  EXPECT_EQ(points.sizes(), at::IntArrayRef({5, 4, 3, 4}));
  EXPECT_LT(largest_difference(points.narrow(-1, 0, 2), (predictions.actions + 1) / 2), 1e-6);
  EXPECT_NEAR(points[0][0][0][2].item<double>(), 4.0 / 12, 1e-6);
  EXPECT_NEAR(points[0][0][0][3].item<double>(), 8.0 / 12, 1e-6);
}

TEST(RecurrentGlimpses, OutputsTellWhatWasBelievedAfterEachGlimpse) {
  const auto model = fresh();
  const Batch rows = picture_batch(3);
  const Predictions predictions = model->predict(rows);
  for (int64_t row = 0; row < 3; ++row) {
    const auto& outputs = predictions.outputs[size_t(row)];
    ASSERT_EQ(outputs.size(), 3u);
    const at::Tensor scores = predictions.scores[row];
    EXPECT_EQ(outputs[0].tokens[0], scores.argmax().item<int64_t>()) << "the last one first";
    EXPECT_NEAR(std::exp(outputs[0].log_probability), scores.max().item<double>(), 1e-6);
  }
}

TEST(RecurrentGlimpses, OtherMapsChangeTheOutput) {
  const auto model = fresh();
  const Batch rows = picture_batch(5);
  const Predictions predictions = model->predict(rows);
  expect_replaced_map_counts(*model, rows, predictions, "looks");
  Tap plain, same, other;
  const at::Tensor before = model->replay(rows, predictions, &plain);
  same.replace("glimpses", [](const AttentionMap& own) { return own.weights.clone(); });
  EXPECT_LT(largest_difference(model->replay(rows, predictions, &same), before), 1e-5);
  other.replace("glimpses", [](const AttentionMap& own) { return 1 - own.weights; });
  EXPECT_GT(largest_difference(model->replay(rows, predictions, &other), before), 1e-5);
}

TEST(RecurrentGlimpses, LooksWithoutACellDoNotSeeIt) {
  const auto model = fresh();
  Batch rows = picture_batch(4), darker = rows;
  const Predictions predictions = model->predict(rows);
  const int64_t cell = 4;  // of 3 x 3: the middle
  at::Tensor image = rows.at("image").clone();
  image.slice(2, 4, 8).slice(3, 4, 8).zero_();
  darker.tensors["image"] = image;
  Tap without, plain;
  without.replace("looks", [&](const AttentionMap& own) {
    at::Tensor weights = own.weights.clone();
    weights.select(-1, cell).zero_();
    return weights;
  });
  EXPECT_LT(largest_difference(model->replay(rows, predictions, &without),
                               model->replay(darker, predictions, &plain)),
            1e-5);
}

TEST(RecurrentGlimpses, GradientsReachTheCells) {
  const auto model = fresh();
  const Batch rows = picture_batch(3);
  const at::Tensor leaf = expect_leaf(*model, rows, model->predict(rows), "cells");
  EXPECT_EQ(leaf.sizes(), at::IntArrayRef({3, 144, 1}));
}

// All of the network but the choice of places, whose gradient is REINFORCE's.
TEST(RecurrentGlimpses, TheClassHasTheGradientOfFiniteDifferences) {
  RecurrentGlimpsesOptions options = small();
  options.places = "random";  // nothing but the class is learned then
  const auto model = fresh(options);
  model->to(torch::kDouble);
  Batch rows = picture_batch(3);
  rows.tensors["image"] = rows.at("image").to(torch::kDouble) / 255;
  const at::Tensor draws = Random(5).uniform_tensor({3, 2, 3, 2}, -1.2, 1.2, torch::kDouble);
  const auto loss = [&] { return model->loss_along(rows, draws, 0.2).objective; };
  EXPECT_LT(gradient_error(loss, model->parameters()), 1e-6);
}

// Training goes through buffers with one node for all steps; the readable way is autograd's.
TEST(RecurrentGlimpses, TrainingEqualsTheReadableLoss) {
  for (const char* places : {"learned", "random"}) {
    RecurrentGlimpsesOptions options = small();
    options.places = places;
    options.samples = 3;
    options.sigma = 0.2;
    const auto model = fresh(options);
    model->to(torch::kDouble);
    Batch rows = picture_batch(5);
    rows.tensors["image"] = rows.at("image").to(torch::kDouble) / 255;
    const StepContext context{Random(6), 0};
    const Loss trained = model->loss(rows, context);
    const auto gradients = torch::autograd::grad({trained.objective}, model->parameters());
    // The same draws once more: those of a policy that is still in the middle are its noise.
    at::Tensor draws = torch::cat(
        {context.random.split("first").uniform_tensor({5, 3, 1, 2}, -1, 1, torch::kDouble),
         context.random.split("noise").normal_tensor({5, 3, 2, 2}, 0, 0.2, torch::kDouble)},
        2);
    if (!options.chooses())
      draws = context.random.split("first").uniform_tensor({5, 3, 3, 2}, -1, 1, torch::kDouble);
    const Loss readable = model->loss_along(rows, draws, 0.2);
    EXPECT_NEAR(trained.objective.item<double>(), readable.objective.item<double>(), 1e-12);
    const auto expected = torch::autograd::grad({readable.objective}, model->parameters());
    for (size_t i = 0; i < gradients.size(); ++i)
      EXPECT_LT(largest_difference(gradients[i], expected[i]), 1e-12) << places << " " << i;
  }
}

TEST(RecurrentGlimpses, SigmaFallsEvenly) {
  RecurrentGlimpsesOptions options;
  options.sigma = 0.3;
  options.last_sigma = 0.1;
  EXPECT_EQ(options.sigma_at(1000), 0.3);
  EXPECT_EQ(options.answering_sigma(), 0.3);
  options.sigma_steps = 100;
  EXPECT_NEAR(options.sigma_at(50), 0.2, 1e-12);
  EXPECT_NEAR(options.sigma_at(5000), 0.1, 1e-12);
  EXPECT_EQ(options.answering_sigma(), 0.1);
}

TEST(RecurrentGlimpses, RefusesPlacesThatDoNotFit) {
  const auto model = fresh();
  const Batch rows = picture_batch(2);
  Predictions predictions = model->predict(rows);
  predictions.actions = predictions.actions.narrow(2, 0, 2);
  expect_error(ErrorKind::InvalidArgument, "glimpses each",
               [&] { model->replay(rows, predictions, nullptr); });
}

}  // namespace
}  // namespace fovea::recurrent_glimpses_test
