#include "fovea/training/plan.h"

#include <gtest/gtest.h>

namespace fovea::plan_test {
namespace {

TrainingPlan plan(TrainingOptions options, int64_t rows) {
  return plan_training(std::move(options), rows, [rows](const TrainingOptions& own) {
    return (rows + own.batch_size - 1) / own.batch_size;
  });
}

TEST(Plan, FewRowsAreSeenOftenAndManyOnceOrTwice) {
  TrainingOptions options;
  options.usual_steps = 3000;
  options.largest_batch = 256;
  const TrainingPlan few = plan(options, 114);
  EXPECT_EQ(few.options.batch_size, 16);
  EXPECT_GE(few.options.epochs, 200);
  EXPECT_LE(few.options.epochs, options.most_epochs);
  const TrainingPlan many = plan(options, 1'000'000);
  EXPECT_EQ(many.options.batch_size, 256);
  EXPECT_LE(many.options.epochs, 4);
  EXPECT_GE(many.options.epochs, 1);
  options.usual_steps = 1;
  EXPECT_EQ(plan(options, 1'000'000).options.epochs, 1);
  options.fewest_epochs = 3;
  EXPECT_EQ(plan(options, 1'000'000).options.epochs, 3);
  options.fewest_epochs = 1;
  int64_t steps = 0;
  options.usual_steps = 3000;
  for (const int64_t rows : {2'000, 20'000, 200'000}) {
    const TrainingPlan one = plan(options, rows);
    EXPECT_GT(one.steps, steps) << rows;
    steps = one.steps;
  }
}

TEST(Plan, KeepsWhatIsGiven) {
  TrainingOptions options;
  options.epochs = 7, options.batch_size = 10, options.patience = 3;
  options.evaluate_epochs = 2, options.warmup_steps = 500;
  const TrainingPlan given = plan(options, 95);
  EXPECT_EQ(given.options.epochs, 7);
  EXPECT_EQ(given.options.batch_size, 10);
  EXPECT_EQ(given.options.patience, 3);
  EXPECT_EQ(given.options.evaluate_epochs, 2);
  EXPECT_EQ(given.options.warmup_steps, 500);
  EXPECT_EQ(given.steps_per_epoch, 10);
  EXPECT_EQ(given.steps, 70);
}

TEST(Plan, StepsAndEpochsEndWithWhatIsFirst) {
  TrainingOptions options;
  options.batch_size = 10;
  options.steps = 25;
  EXPECT_EQ(plan(options, 100).options.epochs, 3);
  EXPECT_EQ(plan(options, 100).steps, 25);
  options.epochs = 2;
  EXPECT_EQ(plan(options, 100).steps, 20);
  options.epochs = 9;
  EXPECT_EQ(plan(options, 100).steps, 25);
}

TEST(Plan, OfAPlanIsThePlan) {
  for (const int64_t rows : {3, 143, 5'000, 300'000}) {
    TrainingOptions options;
    options.warmup_steps = 100;
    const TrainingPlan first = plan(options, rows);
    EXPECT_EQ(options_json(plan(first.options, rows).options), options_json(first.options)) << rows;
    EXPECT_GE(first.options.patience, 5);
  }
}

TEST(Plan, AWarmUpIsNeverTheWholeTraining) {
  TrainingOptions options;
  options.usual_steps = 300;
  options.warmup_steps = 1000;
  const TrainingPlan short_one = plan(options, 100);
  EXPECT_LE(short_one.options.warmup_steps * 10, short_one.steps);
}

TEST(Plan, LooksAboutFiftyTimes) {
  TrainingOptions options;
  options.usual_steps = 3000;
  const TrainingPlan few = plan(options, 100);
  const int64_t looks = few.options.epochs / few.options.evaluate_epochs;
  EXPECT_GE(looks, 30);
  EXPECT_LE(looks, 50);
  EXPECT_GE(few.options.patience, looks / 5);
  options.epochs = 300;
  EXPECT_EQ(plan(options, 100).options.evaluate_epochs, 1) << "as ever where epochs are given";
}

}  // namespace
}  // namespace fovea::plan_test
