#include "fovea/models/prefetch_baseline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/contract.h"
#include "tests/support/gradient_check.h"

namespace fovea::prefetch_baseline_test {
namespace {

using namespace testing;  // contract.h

std::shared_ptr<PrefetchBaseline> fresh(uint64_t seed = 1) {
  PrefetchBaselineOptions options;
  options.degree = 2;
  auto model = std::make_shared<PrefetchBaseline>(options);
  model->initialise(Random(seed));
  return model;
}

/// The first line came in 3 of 4 rows in which there was one, the second never.
Batch rows() {
  return {{{"candidates", torch::tensor({5, 6, 7, 8, 9, -1, 4, 3, -1, -1}, at::kLong).view({5, 2})},
           {"next", torch::tensor({5, 7, 9, 99, 1}, at::kLong)}},
          5};
}

TEST(PrefetchBaseline, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(rows(), [](uint64_t seed) { return fresh(seed); });
}

TEST(PrefetchBaseline, LearnsHowFarItCanBeTrusted) {
  const auto model = fresh();
  overfit(*model, rows(), 0.1, 300);
  const Predictions predictions = model->predict(rows());
  ASSERT_EQ(predictions.outputs[0].size(), 2u);
  EXPECT_EQ(predictions.outputs[0][0].tokens, std::vector<int64_t>{5});
  EXPECT_EQ(predictions.outputs[0][1].tokens, std::vector<int64_t>{6});
  EXPECT_NEAR(std::exp(predictions.outputs[0][0].log_probability), 0.75, 0.01);
  EXPECT_LT(std::exp(predictions.outputs[0][1].log_probability), 0.05);
  EXPECT_EQ(predictions.outputs[2].size(), 1u) << "only one line was named";
  EXPECT_TRUE(predictions.outputs[4].empty()) << "nothing was named";
  Tap tap;
  EXPECT_EQ(model->replay(rows(), predictions, &tap).sizes(), at::IntArrayRef({5, 1}));
  EXPECT_TRUE(tap.maps().empty());
}

TEST(PrefetchBaseline, TheLossIsTheCrossEntropyOfEachLine) {
  const auto model = fresh();
  const auto p = [&](int64_t k) {
    return 1 / (1 + std::exp(-model->parameters()[0][k].item<double>()));
  };
  const double first = -3 * std::log(p(0)) - std::log(1 - p(0)), second = -3 * std::log(1 - p(1));
  EXPECT_NEAR(loss_of(*model, rows()), (first + second) / 5, 1e-6);
  model->to(at::kDouble);
  EXPECT_LT(gradient_error(
                [&] {
                  return model->loss(rows(), {Random(1), 0}).objective;
                },
                model->parameters()),
            1e-8);
}

TEST(PrefetchBaseline, NothingNamedIsNoLoss) {
  Batch silent = rows();
  silent.tensors["candidates"] = at::full({5, 2}, -1, at::kLong);
  EXPECT_EQ(loss_of(*fresh(), silent), 0);
}

}  // namespace
}  // namespace fovea::prefetch_baseline_test
