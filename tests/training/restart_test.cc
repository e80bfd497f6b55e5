// What a training does whose loss is no number, or grows and grows.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/training/small_training.h"

namespace fovea::restart_test {
namespace {

using namespace testing;

/// A loss that is no number at some steps.
class Fragile : public FeatureAttention {
 public:
  explicit Fragile(std::set<int64_t> bad)
      : FeatureAttention(
            {},
            FeatureShape{
                {"a", "b", "c", "d"}, {0, 1, 2, 3}, 1, kernels::TabularLoss::BinaryCrossEntropy}),
        bad_(std::move(bad)) {
    initialise(Random(5));
  }
  Loss loss(const Batch& batch, const StepContext& context) override {
    Loss loss = FeatureAttention::loss(batch, context);
    if (bad_.contains(context.step))
      loss.objective = loss.objective * std::numeric_limits<double>::quiet_NaN();
    return loss;
  }

 private:
  std::set<int64_t> bad_;
};

TEST(Restart, GoesBackToTheBestWeightsAtHalfTheRate) {
  const Rows rows = table_rows(400);  // 25 steps an epoch
  Fragile model({60, 130});
  const at::Tensor first = flat_parameters(model).clone();
  TrainingOptions options = quick(8, 16, "autograd");
  options.evaluate_epochs = 4;
  std::vector<std::string> said;
  TrainerHooks hooks;
  hooks.note = [&](const std::string& sentence) {
    said.push_back(sentence);
    EXPECT_EQ(flat_parameters(model).equal(first), said.size() == 1);
  };
  const auto result = Trainer(model, options, 1).train(rows, hooks);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("back to the first weights, at half"), std::string::npos) << said[0];
  EXPECT_NE(said[1].find("back to the weights of epoch 4"), std::string::npos) << said[1];
  EXPECT_EQ(result.epochs.back().learning_rate, options.learning_rate / 4);
  EXPECT_TRUE(flat_parameters(model).isfinite().all().item<bool>());
}

TEST(Restart, GivesUpAfterThreeTimes) {
  const Rows rows = table_rows(400);
  std::set<int64_t> all;
  for (int64_t step = 30; step < 1000; ++step) all.insert(step);
  Fragile model(all);
  int64_t said = 0;
  TrainerHooks hooks;
  hooks.note = [&](const std::string&) { ++said; };
  expect_error(ErrorKind::BadData, "training.learning_rate",
               [&] { Trainer(model, quick(8, 16, "autograd"), 1).train(rows, hooks); });
  EXPECT_EQ(said, 3);
}

/// A loss that grows and grows: three restarts, then the best weights of before.
TEST(Restart, EndsATrainingThatDiverges) {
  class Growing : public FeatureAttention {
   public:
    Growing()
        : FeatureAttention({}, FeatureShape{{"a", "b", "c", "d"},
                                            {0, 1, 2, 3},
                                            1,
                                            kernels::TabularLoss::BinaryCrossEntropy}) {
      initialise(Random(5));
    }
    Loss loss(const Batch& batch, const StepContext& context) override {
      Loss loss = FeatureAttention::loss(batch, context);
      loss.objective = loss.objective * (context.step < 100 ? 1.0 : 1000.0);
      return loss;
    }
  } model;
  const Rows rows = table_rows(400);  // 25 steps an epoch
  int64_t said = 0;
  TrainerHooks hooks = hooks_for(model, rows);
  hooks.note = [&](const std::string&) { ++said; };
  const auto result = Trainer(model, quick(100, 16, "autograd"), 1).train(rows, hooks);
  EXPECT_EQ(said, 3);
  EXPECT_EQ(result.end, TrainingEnd::Diverged);
  EXPECT_LE(result.last_epoch, 9);
}

/// Stops after each block and goes on, restarts included: as if it had never stopped.
TEST(Restart, IsResumedBitForBit) {
  const Rows rows = table_rows(2000);
  TrainingOptions options = quick(4, 16, "autograd");
  options.schedule = "cosine";
  TemporaryFolder folders;
  RunFolder whole(folders / "whole"), parts(folders / "parts");
  whole.claim();
  parts.claim();
  int64_t restarts = 0;
  const auto run = [&](const RunFolder& folder, bool resume, int64_t stop_after) {
    Fragile model({40, 200, 300});
    TrainerHooks hooks;
    int64_t blocks = 0;
    hooks.note = [&](const std::string&) { ++restarts; };
    hooks.should_stop = [&] { return stop_after > 0 && ++blocks >= stop_after; };
    return Trainer(model, options, 9, &folder).train(rows, hooks, resume).stopped;
  };
  run(whole, false, 0);
  ASSERT_EQ(restarts, 3) << "the case tests nothing";
  bool resume = false;
  while (run(parts, resume, 2)) resume = true;
  expect_same_weights(whole, parts);
}

}  // namespace
}  // namespace fovea::restart_test
