#include "fovea/training/trainer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tests/training/small_training.h"

namespace fovea::trainer_test {
namespace {

using namespace testing;

TEST(Gears, AgreeOnTables) {
  const Rows rows = table_rows(1000);
  for (const char* optimiser : {"sgd", "adam", "adamw", "rmsprop", "adadelta"}) {
    auto fast = table_model(), ordinary = table_model();
    TrainingOptions options = quick(2, 32, "fused");
    options.optimiser = optimiser;
    if (options.optimiser == "adadelta") options.learning_rate = 1;
    options.clip_norm = 1;
    options.schedule = "cosine";
    const auto a = Trainer(*fast, options, 3).train(rows, {});
    options.path = "autograd";
    const auto b = Trainer(*ordinary, options, 3).train(rows, {});
    EXPECT_LT(largest_difference(flat_parameters(*fast), flat_parameters(*ordinary)), 2e-4)
        << optimiser;
    EXPECT_NEAR(a.epochs[1].loss, b.epochs[1].loss, 1e-5) << optimiser;
    EXPECT_GT(largest_difference(flat_parameters(*fast), flat_parameters(*table_model())), 1e-3)
        << optimiser;
  }
}

TEST(Gears, AgreeOnContextsAtBatchOne) {
  const Rows rows = context_rows(300);
  auto fast = context_model(), ordinary = context_model();
  Trainer(*fast, quick(2, 1, "fused"), 3).train(rows, {});
  Trainer(*ordinary, quick(2, 1, "autograd"), 3).train(rows, {});
  EXPECT_LT(largest_difference(flat_parameters(*fast), flat_parameters(*ordinary)), 2e-4);
}

TEST(Gears, FastIsRefusedWhereThereIsNone) {
  const Rows rows = table_rows(10);
  auto model = table_model(0.5);
  expect_error(ErrorKind::InvalidArgument, "no fused path",
               [&] { Trainer(*model, quick(1, 4, "fused"), 1).train(rows, {}); });
}

struct ResumeCase {
  const char* name;
  const char* path;
  double dropout;
  int64_t rows;
  double ema = 0;
};

class Resume : public ::testing::TestWithParam<ResumeCase> {};

/// Stops after `stop_after` blocks again and again, each time resuming with a fresh model from the
/// folder.
TEST_P(Resume, EqualsAnUninterruptedRunBitForBit) {
  const Rows rows = table_rows(GetParam().rows);
  TrainingOptions options = quick(3, 64, GetParam().path);
  options.schedule = "plateau";
  options.plateau_patience = 0;
  options.ema = GetParam().ema;
  TemporaryFolder folders;
  RunFolder whole(folders / "whole"), parts(folders / "parts");
  whole.claim();
  parts.claim();
  auto model = table_model(GetParam().dropout);
  Trainer(*model, options, 9, &whole).train(rows, hooks_for(*model, rows));

  bool resume = false, stopped = true;
  for (int64_t stop_after = 1; stopped; ++stop_after) {
    auto part = table_model(GetParam().dropout);
    TrainerHooks hooks = hooks_for(*part, rows);
    int64_t blocks = 0;
    hooks.should_stop = [&] { return ++blocks >= stop_after; };
    stopped = Trainer(*part, options, 9, &parts).train(rows, hooks, resume).stopped;
    resume = true;
    ASSERT_LT(stop_after, 50);
  }
  expect_same_weights(whole, parts);
  EXPECT_EQ(metrics_without_seconds(whole), metrics_without_seconds(parts));
  EXPECT_EQ(metrics_without_seconds(whole).size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(Gears, Resume,
                         ::testing::Values(ResumeCase{"fused", "fused", 0, 20000},
                                           ResumeCase{"autograd", "autograd", 0, 9000},
                                           ResumeCase{"dropout", "autograd", 0.3, 9000},
                                           ResumeCase{"ema", "autograd", 0, 9000, 0.9}),
                         [](const auto& info) { return info.param.name; });

TEST(Trainer, ReportsTheMeanLossOfAllRows) {
  const Rows rows = table_rows(20001);  // several blocks, the last batch short
  for (const char* path : {"fused", "autograd"}) {
    auto model = table_model();
    TrainingOptions options = quick(1, 64, path);
    options.learning_rate = 0;
    const double expected = hooks_for(*model, rows).evaluate()[0].value;
    EXPECT_NEAR(Trainer(*model, options, 1).train(rows, {}).epochs[0].loss, expected, 1e-5) << path;
  }
}

/// Remembers which rows were asked for.
class Spy : public Rows {
 public:
  using Rows::Rows;
  Batch batch(std::span<const int64_t> rows) const override {
    seen.insert(seen.end(), rows.begin(), rows.end());
    return Rows::batch(rows);
  }
  mutable std::vector<int64_t> seen;
};

std::vector<std::vector<int64_t>> orders_seen(bool shuffle, uint64_t seed) {
  const Spy spy(table_rows(100).columns());
  auto model = table_model();
  TrainingOptions options = quick(2, 32, "autograd");
  options.shuffle = shuffle;
  Trainer(*model, options, seed).train(spy, {});
  const auto first = spy.seen.begin() + 1;  // one row is looked at before, to check the schema
  return {{first, first + 100}, {first + 100, first + 200}};
}

TEST(Trainer, ShufflesAnewEachEpoch) {
  std::vector<int64_t> all(100);
  for (int64_t i = 0; i < 100; ++i) all[size_t(i)] = i;
  EXPECT_EQ(orders_seen(false, 1), (std::vector{all, all}));
  auto shuffled = orders_seen(true, 1);
  EXPECT_NE(shuffled[0], shuffled[1]);
  EXPECT_NE(shuffled, orders_seen(true, 2));
  EXPECT_EQ(shuffled, orders_seen(true, 1));
  for (auto& order : shuffled) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all);
  }
}

TEST(Trainer, GoesOnForMoreEpochs) {
  const Rows rows = table_rows(500);
  TemporaryFolder folders;
  RunFolder four(folders / "four"), two(folders / "two");
  four.claim();
  two.claim();
  auto a = table_model(), b = table_model(), c = table_model();
  Trainer(*a, quick(4, 32), 1, &four).train(rows, hooks_for(*a, rows));
  Trainer(*b, quick(2, 32), 1, &two).train(rows, hooks_for(*b, rows));
  const auto result =
      Trainer(*c, quick(4, 32), 1, &two).train(rows, hooks_for(*c, rows), /*resume=*/true);
  EXPECT_EQ(result.epochs.size(), 2u);
  EXPECT_TRUE(flat_parameters(*a).equal(flat_parameters(*c)));
}

/// Says in turn what `losses` holds.
TrainerHooks saying(std::vector<double> losses) {
  TrainerHooks hooks;
  hooks.evaluate = [losses, call = std::make_shared<size_t>(0)] {
    return Metrics{{"loss", losses.at((*call)++)}};
  };
  return hooks;
}

/// The mean of the last epochs is kept only until there are later ones.
TEST(Trainer, GoesOnForMoreEpochsAfterAMean) {
  const Rows rows = table_rows(500);
  TemporaryFolder folders;
  RunFolder two(folders / "two"), four(folders / "four");
  two.claim();
  four.claim();
  const auto train = [&](const RunFolder& folder, int64_t epochs, const TrainerHooks& hooks,
                         bool resume) {
    TrainingOptions options = quick(epochs, 32);
    options.average_epochs = 2;
    auto model = table_model();
    return Trainer(*model, options, 1, &folder).train(rows, hooks, resume).average.best;
  };
  // After each epoch, and of the mean: of the first two that is the best.
  EXPECT_TRUE(train(two, 2, saying({5, 6, 1}), /*resume=*/false));
  EXPECT_TRUE(read_safetensors(two.last()).tensors.contains("best.output.bias"));
  EXPECT_FALSE(train(two, 4, saying({9, 9, 9}), /*resume=*/true));
  EXPECT_FALSE(read_safetensors(two.last()).tensors.contains("best.output.bias"));
  // An uninterrupted training never tries it.
  EXPECT_FALSE(train(four, 4, saying({5, 6, 9, 9, 9}), /*resume=*/false));
  EXPECT_EQ(read_file(two.model()), read_file(four.model()));
}

TEST(Trainer, KeepsTheMovingAverageOfTheWeights) {
  const Rows rows = table_rows(96);
  const auto train = [&](int64_t steps, double ema) {
    auto model = table_model();
    TrainingOptions options = quick(0, 32, "autograd");
    options.steps = steps;
    options.ema = ema;
    Trainer(*model, options, 1).train(rows, saying({1}));
    return flat_parameters(*model);
  };
  at::Tensor average = flat_parameters(*table_model());
  for (int64_t step = 1; step <= 3; ++step) {
    const double decay = std::min(0.25, (1.0 + double(step)) / (10.0 + double(step)));
    average = decay * average + (1 - decay) * train(step, 0);
  }
  EXPECT_LT(largest_difference(train(3, 0.25), average), 1e-6);
  EXPECT_GT(largest_difference(train(3, 0), average), 1e-3);
}

TEST(Trainer, StopsEarlyAndKeepsTheBest) {
  const Rows rows = table_rows(200);
  auto model = table_model();
  TrainingOptions options = quick(20, 32);
  options.patience = 2;
  std::vector<double> losses{5, 4, 6, 7, 1};
  size_t call = 0;
  std::vector<at::Tensor> weights;
  TrainerHooks hooks;
  hooks.evaluate = [&] {
    weights.push_back(flat_parameters(*model));
    return Metrics{{"loss", losses[call++]}};
  };
  const auto result = Trainer(*model, options, 1).train(rows, hooks);
  EXPECT_EQ(result.epochs.size(), 4u);
  EXPECT_EQ(result.best_epoch, 2);
  EXPECT_TRUE(flat_parameters(*model).equal(weights[1]));
}

TEST(Trainer, TwoMonitorsFollowTheRule) {
  const Rows rows = table_rows(100);
  for (const auto& [rule, epochs] :
       {std::pair("either", size_t{2}), std::pair("both", size_t{4})}) {
    auto model = table_model();
    TrainingOptions options = quick(10, 32);
    options.patience = 1;
    options.monitor = {"loss", "accuracy"};
    options.stop_rule = rule;
    std::vector<double> accuracy{0.5, 0.6, 0.7, 0.7};
    size_t call = 0;
    TrainerHooks hooks;
    hooks.evaluate = [&] {
      const size_t now = call++;
      return Metrics{{"loss", 1.0}, {"accuracy", accuracy[now], true}};
    };
    EXPECT_EQ(Trainer(*model, options, 1).train(rows, hooks).epochs.size(), epochs) << rule;
  }
}

TEST(Trainer, TiesCountAndTheBestWeightsAreGoodInAllMetrics) {
  const Rows rows = table_rows(100);
  auto model = table_model();
  TrainingOptions options = quick(20, 32);
  options.patience = 2;
  options.monitor = {"loss", "accuracy"};
  options.stop_rule = "ties";
  // Epoch 3 equals both, 4 beats the loss alone, 6 equals the accuracy alone; then neither.
  const std::vector<double> loss{2, 1, 1, 0.9, 3, 3, 3, 3, 0.1},
      accuracy{0.5, 0.7, 0.7, 0.6, 0.6, 0.7, 0.6, 0.6, 0.9};
  std::vector<at::Tensor> weights;
  TrainerHooks hooks;
  hooks.evaluate = [&] {
    const size_t now = weights.size();
    weights.push_back(flat_parameters(*model));
    return Metrics{{"loss", loss[now]}, {"accuracy", accuracy[now], true}};
  };
  const auto result = Trainer(*model, options, 1).train(rows, hooks);
  EXPECT_EQ(result.epochs.size(), 8u);
  EXPECT_EQ(result.best_epoch, 3);
  EXPECT_TRUE(flat_parameters(*model).equal(weights[2]));
}

TEST(Trainer, NamesTheNearestMetric) {
  const Rows rows = table_rows(10);
  auto model = table_model();
  TrainingOptions options = quick(1, 4);
  options.monitor = {"los"};
  expect_error(ErrorKind::InvalidArgument, "did you mean 'loss'",
               [&] { Trainer(*model, options, 1).train(rows, hooks_for(*model, rows)); });
}

TEST(Trainer, WithoutValidationRowsTheTrainingLossDecides) {
  const Rows rows = table_rows(200);
  auto model = table_model();
  TrainingOptions options = quick(3, 32);
  options.monitor = {"accuracy"};
  const auto result = Trainer(*model, options, 1).train(rows, {});
  ASSERT_EQ(result.epochs.size(), 3u);
  for (const auto& epoch : result.epochs)
    EXPECT_GE(epoch.loss, result.epochs[size_t(result.best_epoch - 1)].loss);
}

TEST(Trainer, SaysWhenTheLossIsNoNumber) {
  Rows rows = table_rows(64);
  rows.columns().at("inputs")[3][1].fill_(std::numeric_limits<float>::quiet_NaN());
  for (const char* path : {"fused", "autograd"}) {
    auto model = table_model();
    expect_error(ErrorKind::BadData, "learning_rate",
                 [&] { Trainer(*model, quick(1, 8, path), 1).train(rows, {}); });
  }
}

TEST(Trainer, EndsAfterTheStepsOfTheBudget) {
  const Rows rows = table_rows(1000);
  for (const char* path : {"fused", "autograd"})
    for (const int64_t steps : {1, 31, 32, 33, 300}) {
      auto model = table_model();
      TrainingOptions options = quick(0, 32, path);
      options.steps = steps;
      options.patience = 0;
      const auto result = Trainer(*model, options, 1).train(rows, hooks_for(*model, rows));
      EXPECT_EQ(result.steps, steps) << path;
      EXPECT_EQ(result.end, TrainingEnd::Budget);
      EXPECT_EQ(result.epochs.back().steps, steps) << "the last look is at the end";
    }
}

TEST(Trainer, TheStepsOfTwoPathsAgree) {
  const Rows rows = table_rows(500);
  auto fused = table_model(), autograd = table_model();
  TrainingOptions options = quick(0, 16, "fused");
  options.steps = 77;
  options.schedule = "cosine";
  Trainer(*fused, options, 3).train(rows, {});
  options.path = "autograd";
  Trainer(*autograd, options, 3).train(rows, {});
  EXPECT_LT(largest_difference(flat_parameters(*fused), flat_parameters(*autograd)), 2e-4);
}

TEST(Trainer, LooksEverySoManyEpochsAndAtTheEnd) {
  const Rows rows = table_rows(200);
  auto model = table_model();
  TrainingOptions options = quick(8, 32);
  options.evaluate_epochs = 3;
  options.patience = 0;
  std::vector<int64_t> looked;
  for (const EpochReport& report :
       Trainer(*model, options, 1).train(rows, hooks_for(*model, rows)).epochs)
    looked.push_back(report.epoch);
  EXPECT_EQ(looked, (std::vector<int64_t>{3, 6, 8}));
}

/// Resume with looks that are several epochs apart: losses since the last look are kept.
TEST(Trainer, IsResumedBetweenTwoLooks) {
  const Rows rows = table_rows(300);
  TrainingOptions options = quick(10, 32);
  options.evaluate_epochs = 4;
  TemporaryFolder folders;
  RunFolder whole(folders / "whole"), parts(folders / "parts");
  whole.claim();
  parts.claim();
  auto model = table_model();
  Trainer(*model, options, 1, &whole).train(rows, hooks_for(*model, rows));
  bool resume = false, stopped = true;
  while (stopped) {
    auto part = table_model();
    TrainerHooks hooks = hooks_for(*part, rows);
    int64_t blocks = 0;
    hooks.should_stop = [&] { return ++blocks >= 3; };
    stopped = Trainer(*part, options, 1, &parts).train(rows, hooks, resume).stopped;
    resume = true;
  }
  EXPECT_EQ(read_file(whole.model()), read_file(parts.model()));
  const auto losses = [](const RunFolder& folder) {
    std::vector<double> values;
    std::ifstream file(folder.metrics());
    for (std::string line; std::getline(file, line);)
      values.push_back(parse_json(line, "metrics")["loss"].get<double>());
    return values;
  };
  EXPECT_EQ(losses(whole).size(), 3u);
  EXPECT_EQ(losses(whole), losses(parts));
}

TEST(Trainer, SaysHowItEnded) {
  const Rows rows = table_rows(100);
  const auto ended = [&](std::vector<double> losses, int64_t patience) {
    auto model = table_model();
    TrainingOptions options = quick(int64_t(losses.size()), 32);
    options.patience = patience;
    return Trainer(*model, options, 1).train(rows, saying(std::move(losses)));
  };
  const TrainingResult early = ended({5, 4, 6, 7, 8, 9}, 2);
  EXPECT_EQ(early.summary(), "stopped at epoch 4 of at most 6: no gain since 2");
  EXPECT_EQ(early.to_json()["reason"], "patience");
  const TrainingResult short_one = ended({5, 4, 3, 2, 1}, 0);
  EXPECT_TRUE(short_one.still_improving);
  EXPECT_EQ(short_one.summary(), "still improving at the end, epoch 5");
  EXPECT_FALSE(ended({5, 1, 1.2, 1.1, 0.999}, 0).still_improving) << "by 0.1 % only";
}

TEST(Trainer, EndsInTime) {
  const Rows rows = table_rows(1000);
  auto model = table_model();
  TrainingOptions options = quick(1000000, 32, "autograd");
  options.seconds = 0.2;
  options.patience = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto result = Trainer(*model, options, 1).train(rows, hooks_for(*model, rows));
  EXPECT_EQ(result.end, TrainingEnd::Time);
  EXPECT_GE(result.best_epoch, 1);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 10);
}

TEST(Trainer, TheNextMetricDecidesATie) {
  const Rows rows = table_rows(100);
  auto model = table_model();
  TrainingOptions options = quick(3, 32);
  options.monitor = {"accuracy", "loss"};
  std::vector<double> losses{3, 1, 2};
  size_t call = 0;
  TrainerHooks hooks;
  hooks.evaluate = [&] { return Metrics{{"accuracy", 0.5, true}, {"loss", losses[call++]}}; };
  EXPECT_EQ(Trainer(*model, options, 1).train(rows, hooks).best_epoch, 2);
}

TEST(Trainer, AMetricThatIsNoNumberIsNeverTheBest) {
  const Rows rows = table_rows(100);
  auto model = table_model();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto result = Trainer(*model, quick(3, 32), 1).train(rows, saying({nan, 2, 3}));
  EXPECT_EQ(result.best_epoch, 2);
}

TEST(Trainer, RefusesEmptyData) {
  const Rows rows = table_rows(0);
  auto model = table_model();
  expect_error(ErrorKind::BadData, "no training rows",
               [&] { Trainer(*model, quick(1, 8), 1).train(rows, {}); });
}

}  // namespace
}  // namespace fovea::trainer_test
