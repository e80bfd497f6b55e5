#include "fovea/training/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect_error.h"

namespace fovea::schedule_test {
namespace {

Schedule make(const std::string& name, const std::function<void(TrainingOptions&)>& change = {}) {
  TrainingOptions options;
  options.schedule = name;
  options.learning_rate = 1;
  options.epochs = 10;
  if (change) change(options);
  return Schedule(options, 100);
}

TEST(Schedule, ConstantWithWarmup) {
  const Schedule schedule = make("constant", [](auto& o) { o.warmup_steps = 10; });
  EXPECT_DOUBLE_EQ(schedule.rate(1), 0.1);
  EXPECT_DOUBLE_EQ(schedule.rate(10), 1);
  EXPECT_DOUBLE_EQ(schedule.rate(999), 1);
}

TEST(Schedule, StepCutsEveryFewEpochs) {
  const Schedule schedule = make("step", [](auto& o) { o.step_epochs = 2; });
  EXPECT_DOUBLE_EQ(schedule.rate(200), 1);
  EXPECT_DOUBLE_EQ(schedule.rate(201), 0.5);
  EXPECT_DOUBLE_EQ(schedule.rate(401), 0.25);
}

TEST(Schedule, CosineAndLinearEndAtTheFloor) {
  const Schedule cosine = make("cosine", [](auto& o) { o.minimum_rate = 0.1; });
  EXPECT_NEAR(cosine.rate(500), 0.55, 1e-9);
  EXPECT_NEAR(cosine.rate(1000), 0.1, 1e-9);
  const Schedule linear = make("linear", [](auto& o) { o.warmup_steps = 100; });
  EXPECT_NEAR(linear.rate(50), 0.5, 1e-9);
  EXPECT_NEAR(linear.rate(100), 1, 1e-9);
  EXPECT_NEAR(linear.rate(550), 0.5, 1e-9);
  EXPECT_NEAR(linear.rate(1000), 0, 1e-9);
}

TEST(Schedule, NoamPeaksAtTheEndOfItsWarmup) {
  const Schedule noam = make("noam", [](auto& o) { o.warmup_steps = 4000; });
  EXPECT_NEAR(noam.rate(4000), 6.99e-4, 1e-6);  // Vaswani et al.: 512^-.5 4000^-.5
  EXPECT_LT(noam.rate(3999), noam.rate(4000));
  EXPECT_LT(noam.rate(4001), noam.rate(4000));
  testing::expect_error(ErrorKind::InvalidArgument, "warmup_steps", [] { make("noam"); });
}

TEST(Schedule, PlateauCutsAfterEpochsWithoutGain) {
  Schedule schedule = make("plateau", [](auto& o) {
    o.plateau_patience = 1;
    o.minimum_rate = 0.3;
  });
  for (bool gained : {true, false}) schedule.epoch_ended(gained);
  EXPECT_DOUBLE_EQ(schedule.rate(1), 1);
  schedule.epoch_ended(false);
  EXPECT_DOUBLE_EQ(schedule.rate(1), 0.5);
  for (int i = 0; i < 4; ++i) schedule.epoch_ended(false);
  EXPECT_DOUBLE_EQ(schedule.rate(1), 0.3);
}

}  // namespace
}  // namespace fovea::schedule_test
