#include "fovea/models/image_baselines.h"

#include <gtest/gtest.h>

#include "tests/models/contract.h"
#include "tests/models/picture_batch.h"
#include "tests/support/gradient_check.h"

namespace fovea::image_baselines_test {
namespace {

using namespace testing;  // contract.h, picture_batch.h

class ImageBaselines : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<ImageBaseline> fresh(uint64_t seed = 1) const {
    ImageBaselineOptions options;
    options.name = GetParam();
    options.hidden = 12;
    options.filters = 3;
    auto model = std::make_shared<ImageBaseline>(options, picture_input());
    model->initialise(Random(seed));
    return model;
  }
};

TEST_P(ImageBaselines, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(picture_batch(4), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(ImageBaselines, OverfitsEightPictures) {
  const auto model = fresh();
  const Batch rows = picture_batch(8);
  overfit(*model, rows, 0.01);
  EXPECT_LT(loss_of(*model, rows), 0.1);
}

TEST_P(ImageBaselines, AReplayRepeatsThePredictionAndHasGradients) {
  const auto model = fresh();
  const Batch rows = picture_batch(4);
  const Predictions predictions = model->predict(rows);
  const at::Tensor leaf = expect_leaf(*model, rows, predictions, "cells");
  EXPECT_EQ(leaf.sizes(), at::IntArrayRef({4, 144, 1}));
  EXPECT_LT(largest_difference(model->replay(rows, predictions, nullptr).exp(),
                               std::get<0>(predictions.scores.max(1, true))),
            1e-6);
}

TEST_P(ImageBaselines, HasTheGradientOfFiniteDifferences) {
  const auto model = fresh();
  model->to(torch::kDouble);
  const Batch rows = picture_batch(3);
  const auto loss = [&] { return model->loss(rows, {Random(1), 0}).objective; };
  EXPECT_LT(gradient_error(loss, model->parameters()), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Names, ImageBaselines, ::testing::Values("plain", "cnn"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace fovea::image_baselines_test
