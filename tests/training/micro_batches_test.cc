// The trainer with batches of unequal rows: cut into micro-batches that run side by side, pooled by
// length, within a token budget.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "fovea/tensor/parallel.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tests/training/small_training.h"

namespace fovea::micro_batches_test {
namespace {

using namespace testing;

constexpr int64_t kLongest = 12, kLate = 6;

/// Rows of 1 to kLongest numbers; a batch is padded with what would spoil a mean.
class Lines : public Dataset {
 public:
  explicit Lines(int64_t count)
      : values_(Random(1).uniform_tensor({count, kLongest}, -1, 1, torch::kFloat32)) {
    for (int64_t row = 0; row < count; ++row)
      lengths_.push_back(1 + static_cast<int64_t>(Random(2).below(uint64_t(row), kLongest)));
  }
  int64_t size() const override { return static_cast<int64_t>(lengths_.size()); }
  int64_t length(int64_t row) const override { return lengths_.at(static_cast<size_t>(row)); }
  Example example(int64_t) const override { return {}; }
  Batch batch(std::span<const int64_t> rows) const override {
    int64_t longest = 0;
    for (const int64_t row : rows) longest = std::max(longest, length(row));
    const auto count = static_cast<int64_t>(rows.size());
    const at::Tensor values = torch::full({count, longest}, 100.0),
                     keep = torch::zeros({count, longest}, torch::kBool);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = rows[static_cast<size_t>(i)];
      values[i].narrow(0, 0, length(row)).copy_(values_[row].narrow(0, 0, length(row)));
      keep[i].narrow(0, 0, length(row)).fill_(true);
    }
    return {{{"values", values}, {"values.keep", keep}}, count};
  }
  Batch all() const {
    std::vector<int64_t> rows(lengths_.size());
    for (int64_t row = 0; row < size(); ++row) rows[static_cast<size_t>(row)] = row;
    return batch(rows);
  }

 private:
  at::Tensor values_;  // [N, kLongest]
  std::vector<int64_t> lengths_;
};

/// Learns sin(3 x) of each number; the loss is the mean over all numbers, or over rows.
class SineModel : public Model {
 public:
  explicit SineModel(double dropout = 0, bool units_are_rows = false)
      : dropout_(dropout),
        units_are_rows_(units_are_rows),
        inner_(register_parameter("inner", torch::zeros({2, 8}))),
        outer_(register_parameter("outer", torch::zeros({8}))),
        late_(register_parameter("late", torch::zeros({1}))) {
    initialise(Random(5));
  }
  void initialise(const Random& random) override {
    torch::NoGradGuard no_gradients;
    inner_.copy_(random.split("inner").uniform_tensor({2, 8}, -1, 1, inner_.options()));
    outer_.copy_(random.split("outer").uniform_tensor({8}, -1, 1, outer_.options()));
  }
  Schema schema() const override {
    return {{"values", torch::kFloat32, {-1, -1}}, {"values.keep", torch::kBool, {-1, -1}}};
  }
  std::vector<LayerSummary> summary() const override { return {}; }
  Loss loss(const Batch& batch, const StepContext& context) override {
    const at::Tensor &x = batch.at("values"), keep = batch.at("values.keep").to(torch::kFloat32);
    at::Tensor hidden = (x.unsqueeze(-1) * inner_[0] + inner_[1]).tanh();  // [B, L, 8]
    if (dropout_ > 0) hidden = dropout(hidden, dropout_, context.random);
    at::Tensor output = hidden.matmul(outer_);  // [B, L]
    // Short micro-batches never touch this parameter: their gradient of it is undefined.
    if (x.size(1) > kLate)
      output = output + late_ * (torch::arange(x.size(1)) >= kLate).to(torch::kFloat32);
    const at::Tensor errors = (output - (3 * x).sin()).square() * keep;
    if (units_are_rows_) return {(errors.sum(1) / keep.sum(1)).mean(), {}};
    return {errors.sum() / keep.sum(), {}, keep.sum()};
  }
  Predictions predict(const Batch&) const override { return {}; }
  at::Tensor replay(const Batch&, const Predictions&, Tap*) const override { return {}; }

 private:
  double dropout_;
  bool units_are_rows_;
  at::Tensor inner_, outer_, late_;
};

TrainingOptions in_micro_batches(int64_t micro_batches) {
  TrainingOptions options;
  options.epochs = 3;
  options.batch_size = 8;
  options.learning_rate = 0.02;
  options.micro_batches = micro_batches;
  options.checkpoint_seconds = 0;
  return options;
}

double mean_loss(SineModel& model, const Lines& rows) {
  torch::NoGradGuard no_gradients;
  return model.loss(rows.all(), {Random(0), 0}).objective.item<double>();
}

class Parts : public ::testing::Test {
 protected:
  ~Parts() override { set_threads(1); }
};

TEST_F(Parts, TheNumberOfThreadsChangesNoBit) {
  const Lines rows(301);
  const auto trained = [&](int64_t threads, int64_t pool_batches) {
    set_threads(threads);
    SineModel model(0.2);
    TrainingOptions options = in_micro_batches(3);
    options.pool_batches = pool_batches;
    const auto result = Trainer(model, options, 7).train(rows, {});
    return std::pair(flat_parameters(model).clone(), result.epochs.back().loss);
  };
  for (const int64_t pool_batches : {0, 5}) {
    const auto [weights, loss] = trained(1, pool_batches);
    EXPECT_GT(largest_difference(weights, flat_parameters(SineModel())), 1e-2);
    for (const int64_t threads : {2, 4}) {
      const auto [again, loss_again] = trained(threads, pool_batches);
      EXPECT_TRUE(weights.equal(again)) << threads << " threads";
      EXPECT_EQ(loss, loss_again) << threads << " threads";
    }
  }
}

TEST_F(Parts, AStepIsTimedByAPartOfItsBatch) {
  class SlowModel : public SineModel {
   public:
    Loss loss(const Batch& batch, const StepContext& context) override {
      rows_seen += batch.size;
      std::this_thread::sleep_for(std::chrono::milliseconds(10 * batch.size));
      return SineModel::loss(batch, context);
    }
    int64_t rows_seen = 0;
  };
  SlowModel model;
  TrainingOptions options = in_micro_batches(1);
  options.batch_size = 64;
  const double seconds = Trainer(model, options, 7).time_step(Lines(128), 0.1);
  EXPECT_GE(seconds, 0.64);        // 64 rows
  EXPECT_LE(model.rows_seen, 21);  // 1, 4 and 16
  // Whole batches, thousands of them.
  SineModel fast;
  const double fast_seconds = Trainer(fast, in_micro_batches(1), 7).time_step(Lines(16), 0.2);
  EXPECT_GT(fast_seconds, 0);
  EXPECT_LT(fast_seconds, 0.1);
}

TEST_F(Parts, EqualTheWholeBatchWithinRounding) {
  const Lines rows(301);  // the last batch has fewer rows than some have micro-batches
  set_threads(2);
  for (const bool units_are_rows : {false, true})
    for (const int64_t micro_batches : {2, 3, 20}) {
      SineModel whole(0, units_are_rows), cut(0, units_are_rows);
      TrainingOptions options = in_micro_batches(1);
      options.optimiser = "sgd";
      options.learning_rate = 0.1;
      const auto a = Trainer(whole, options, 7).train(rows, {});
      options.micro_batches = micro_batches;
      const auto b = Trainer(cut, options, 7).train(rows, {});
      EXPECT_LT(largest_difference(flat_parameters(whole), flat_parameters(cut)), 1e-5)
          << micro_batches;
      EXPECT_GT(largest_difference(flat_parameters(whole), flat_parameters(SineModel())), 0.1);
      for (size_t epoch = 0; epoch < 3; ++epoch) {
        EXPECT_NEAR(a.epochs[epoch].loss, b.epochs[epoch].loss, 1e-6) << micro_batches;
        EXPECT_EQ(a.epochs[epoch].steps, b.epochs[epoch].steps) << micro_batches;
      }
    }
}

TEST_F(Parts, ReportTheMeanLossOverUnits) {
  const Lines rows(301);
  for (const bool units_are_rows : {false, true})
    for (const int64_t micro_batches : {1, 3})
      for (const int64_t batch_tokens : {0, 50}) {
        SineModel model(0, units_are_rows);
        TrainingOptions options = in_micro_batches(micro_batches);
        options.learning_rate = 0;
        options.batch_tokens = batch_tokens;
        options.pool_batches = 4;
        std::vector<double> losses;
        TrainerHooks hooks;
        hooks.progress = [&](int64_t, double loss) { losses.push_back(loss); };
        const auto result = Trainer(model, options, 1).train(rows, hooks);
        EXPECT_NEAR(result.epochs[0].loss, mean_loss(model, rows), 1e-5)
            << micro_batches << " micro-batches, " << batch_tokens << " tokens";
        ASSERT_FALSE(losses.empty());
        EXPECT_NEAR(losses.back(), mean_loss(model, rows), 1e-5);
      }
}

TEST_F(Parts, DrawTheirOwnRandomNumbers) {
  class Listening : public SineModel {
   public:
    Loss loss(const Batch& batch, const StepContext& context) override {
      keys.insert(context.random.key());
      ++calls;
      return SineModel::loss(batch, context);
    }
    std::set<uint64_t> keys;
    size_t calls = 0;
  };
  Listening model;
  Trainer(model, in_micro_batches(3), 1).train(Lines(40), {});
  EXPECT_EQ(model.calls, 3u * 5u * 3u);  // epochs, batches, parts
  EXPECT_EQ(model.keys.size(), model.calls);
}

TEST_F(Parts, AnErrorOfOnePartEndsTheTraining) {
  class Failing : public SineModel {
   public:
    Loss loss(const Batch& batch, const StepContext& context) override {
      if (++calls == 11) fail(ErrorKind::BadData, "row 4 is odd");
      return SineModel::loss(batch, context);
    }
    std::atomic<int> calls{0};
  };
  set_threads(3);
  Failing model;
  expect_error(ErrorKind::BadData, "row 4 is odd",
               [&] { Trainer(model, in_micro_batches(3), 1).train(Lines(100), {}); });
}

/// Stops after one block, then two, …, each time resuming with a fresh model at another number of
/// threads.
TEST_F(Parts, ResumeInTheMiddleOfAnEpochBitForBit) {
  const Lines rows(500);
  TrainingOptions options = in_micro_batches(3);
  options.batch_tokens = 50;
  options.pool_batches = 4;
  TemporaryFolder folders;
  RunFolder whole(folders / "whole"), pieces(folders / "pieces");
  whole.claim();
  pieces.claim();
  SineModel model(0.2);
  Trainer(model, options, 9, &whole).train(rows, {});

  bool resume = false, stopped = true;
  int stops_within_an_epoch = 0;
  for (int64_t stop_after = 1; stopped; ++stop_after) {
    set_threads(1 + stop_after % 3);
    SineModel piece(0.2);
    int64_t blocks = 0, trained = 0;
    TrainerHooks hooks;
    hooks.progress = [&](int64_t count, double) { trained = count; };
    hooks.should_stop = [&] { return ++blocks >= stop_after; };
    stopped = Trainer(piece, options, 9, &pieces).train(rows, hooks, resume).stopped;
    stops_within_an_epoch += trained % rows.size() != 0;
    resume = true;
    ASSERT_LT(stop_after, 50);
  }
  EXPECT_GE(stops_within_an_epoch, 3);
  expect_same_weights(whole, pieces);
  EXPECT_EQ(metrics_without_seconds(whole), metrics_without_seconds(pieces));
  EXPECT_EQ(metrics_without_seconds(whole).size(), 3u);
}

}  // namespace
}  // namespace fovea::micro_batches_test
