#include "fovea/serving/batcher.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/serving/expect_refusal.h"
#include "tests/serving/fake_model.h"

namespace fovea::serving::batcher_test {
namespace {

using fovea::testing::expect_refusal;
using fovea::testing::FakeModel;
using std::chrono::milliseconds;
using Sizes = std::vector<size_t>;

Clock::time_point in(int64_t time) {
  return Clock::now() + milliseconds(time);
}

BatcherOptions options(int64_t max_batch, int64_t wait_milliseconds, int64_t queue) {
  return {max_batch, milliseconds(wait_milliseconds), queue};
}

/// A model with its batcher, and clients that ask in the background.
struct Setting {
  explicit Setting(const BatcherOptions& chosen) : batcher(model, chosen) {}
  ~Setting() {
    model.release();
    for (std::thread& client : clients) client.join();
  }

  std::vector<Example> inputs(size_t count, const std::string& text) {
    return std::vector<Example>(count, model.parse(text));
  }
  void ask(size_t count, const std::string& text, int64_t time = 10000) {
    clients.emplace_back([=, this] {
      try {
        batcher.predict(inputs(count, text), in(time));
        ++answered;
      } catch (const std::exception&) {
        ++failed;
      }
    });
  }
  void wait_for_queue(int64_t waiting) const {
    for (const auto until = in(10000); batcher.waiting() != waiting && Clock::now() < until;)
      std::this_thread::yield();
  }
  /// A first request that keeps the worker busy until release().
  void block() {
    model.hold();
    ask(1, "first");
    model.wait_for_calls(1);
  }
  void join() {
    model.release();
    for (std::thread& client : clients) client.join();
    clients.clear();
  }

  FakeModel model;
  std::atomic<int> answered{0}, failed{0};
  std::vector<std::thread> clients;
  Batcher batcher;
};

TEST(Batcher, AnswersOne) {
  Setting setting(options(8, 0, 8));
  const BatchAnswer answer = setting.batcher.predict(setting.inputs(1, "abc"), in(10000));
  ASSERT_EQ(answer.predictions.size(), 1u);
  EXPECT_EQ(answer.predictions[0].outputs[0].text, "cba");
  EXPECT_EQ(answer.batch, 1);
}

TEST(Batcher, WhatWaitsIsPredictedTogether) {
  Setting setting(options(64, 0, 64));
  setting.block();
  for (int i = 0; i < 10; ++i) setting.ask(1, "x");
  setting.wait_for_queue(10);
  setting.join();
  EXPECT_EQ(setting.model.batches(), (Sizes{1, 10}));
  EXPECT_EQ(setting.answered, 11);
}

TEST(Batcher, EachGetsItsOwnAnswer) {
  Setting setting(options(64, 5, 1000));
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 32; ++i)
    threads.emplace_back([&, i] {
      const std::string text = std::to_string(100 + i), turned(text.rbegin(), text.rend());
      const auto answer =
          setting.batcher.predict(setting.inputs(size_t(1 + i % 3), text), in(10000));
      for (const Prediction& prediction : answer.predictions)
        if (prediction.outputs[0].text != turned) return;
      right += answer.predictions.size() == size_t(1 + i % 3);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 32);
}

TEST(Batcher, NoBatchIsLargerThanTheMost) {
  Setting setting(options(4, 0, 64));
  setting.block();
  for (int i = 0; i < 6; ++i) setting.ask(1, "x");
  setting.wait_for_queue(6);
  setting.ask(10, "y");
  setting.wait_for_queue(16);
  setting.join();
  const Sizes batches = setting.model.batches();
  EXPECT_EQ(std::accumulate(batches.begin(), batches.end(), size_t{0}), 17u);
  for (const size_t size : batches) EXPECT_LE(size, 4u);
  EXPECT_EQ(batches[1], 4u);
}

TEST(Batcher, ALargeRequestDoesNotHoldUpThoseBeforeIt) {
  Setting setting(options(4, 0, 64));
  setting.block();
  setting.ask(3, "x");
  setting.wait_for_queue(3);
  setting.ask(10, "y");
  setting.wait_for_queue(13);
  setting.join();
  EXPECT_EQ(setting.model.batches(), (Sizes{1, 3, 4, 4, 2}));
}

TEST(Batcher, WaitsForOthersButNotForEver) {
  Setting setting(options(64, 300, 64));
  const auto begin = Clock::now();
  setting.ask(1, "a");
  setting.wait_for_queue(1);
  setting.ask(1, "b");
  setting.join();
  EXPECT_EQ(setting.model.batches(), (Sizes{2}));
  EXPECT_GE(Clock::now() - begin, milliseconds(290));
}

TEST(Batcher, AFullBatchWaitsForNothing) {
  Setting setting(options(2, 60000, 64));
  setting.ask(1, "a");
  setting.wait_for_queue(1);
  setting.ask(1, "b");
  setting.join();
  EXPECT_EQ(setting.model.batches(), (Sizes{2}));
}

TEST(Batcher, RefusesWhenFullAndRecovers) {
  Setting setting(options(2, 0, 3));
  setting.block();
  for (int i = 0; i < 3; ++i) setting.ask(1, "x");
  setting.wait_for_queue(3);
  const auto begin = Clock::now();
  expect_refusal(429, "full with 3 inputs",
                 [&] { setting.batcher.predict(setting.inputs(1, "x"), in(10000)); });
  EXPECT_LT(Clock::now() - begin, milliseconds(1000));
  expect_refusal(429, "full",
                 [&] { setting.batcher.explain(setting.model.parse("x"), {}, in(10000)); });
  setting.join();
  EXPECT_EQ(setting.answered, 4);
  EXPECT_EQ(setting.batcher.predict(setting.inputs(1, "x"), in(10000)).predictions.size(), 1u);
}

TEST(Batcher, WhoWaitsTooLongIsDroppedAndNotComputed) {
  Setting setting(options(8, 0, 2));
  setting.block();
  expect_refusal(504, "time limit",
                 [&] { setting.batcher.predict(setting.inputs(2, "late"), in(30)); });
  setting.ask(1, "in time");  // the queue of 2 is free again
  setting.join();
  EXPECT_EQ(setting.model.batches(), (Sizes{1, 1}));
  EXPECT_EQ(setting.answered, 2);
}

TEST(Batcher, ATimeLimitHoldsWhileTheModelComputesToo) {
  Setting setting(options(8, 0, 8));
  setting.model.hold();
  expect_refusal(504, "time limit",
                 [&] { setting.batcher.predict(setting.inputs(1, "x"), in(30)); });
}

TEST(Batcher, AnExpiredFirstRequestDoesNotEndTheWorker) {
  Setting setting(options(8, 100, 1));
  expect_refusal(504, "time limit",
                 [&] { setting.batcher.predict(setting.inputs(1, "x"), in(10)); });
  EXPECT_FALSE(setting.batcher.explain(setting.model.parse("x"), {}, in(10000)).maps.empty());
  EXPECT_EQ(setting.batcher.predict(setting.inputs(1, "x"), in(10000)).predictions.size(), 1u);
}

TEST(Batcher, PredictionsDoNotWaitForExplanations) {
  Setting setting(options(8, 0, 64));
  setting.model.hold_explanations();
  std::thread explaining([&] { setting.batcher.explain(setting.model.parse("e"), {}, in(10000)); });
  setting.model.wait_for_calls(1);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(setting.batcher.predict(setting.inputs(2, "x"), in(10000)).predictions.size(), 2u);
  EXPECT_EQ(setting.model.batches(), (Sizes{0, 2, 2, 2, 2, 2}));
  setting.model.release();
  explaining.join();
}

TEST(Batcher, ExplanationsRunOneByOne) {
  Setting setting(options(8, 0, 64));
  setting.model.hold_explanations();
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i)
    clients.emplace_back([&] { setting.batcher.explain(setting.model.parse("e"), {}, in(10000)); });
  setting.model.wait_for_calls(1);
  setting.wait_for_queue(2);
  EXPECT_EQ(setting.model.batches(), (Sizes{0}));
  setting.model.release();
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(setting.model.batches(), (Sizes{0, 0, 0}));
}

TEST(Batcher, WorkStopsWhenItsTimeIsUp) {
  Setting setting(options(8, 0, 64));
  setting.model.hold();
  expect_refusal(504, "time limit",
                 [&] { setting.batcher.predict(setting.inputs(3, "x"), in(30)); });
  setting.model.wait_for_stops(1);
  expect_refusal(504, "time limit",
                 [&] { setting.batcher.explain(setting.model.parse("x"), {}, in(30)); });
  setting.model.wait_for_stops(2);
  EXPECT_EQ(setting.model.stopped(), 2) << "nobody released them";
  setting.model.release();
  EXPECT_EQ(setting.batcher.predict(setting.inputs(1, "x"), in(10000)).predictions.size(), 1u);
  EXPECT_FALSE(setting.batcher.explain(setting.model.parse("x"), {}, in(10000)).maps.empty());
}

TEST(Batcher, TheRestOfALateRequestIsNotComputed) {
  Setting setting(options(2, 0, 2000));
  setting.model.hold();
  expect_refusal(504, "time limit",
                 [&] { setting.batcher.predict(setting.inputs(1000, "x"), in(30)); });
  setting.model.wait_for_stops(1);
  setting.wait_for_queue(0);
  EXPECT_EQ(setting.batcher.waiting(), 0);
  setting.model.release();
  setting.batcher.predict(setting.inputs(1, "x"), in(10000));
  EXPECT_EQ(setting.model.batches(), (Sizes{2, 1}));
}

TEST(Batcher, WorkStopsWhenItsClientHasGone) {
  Setting setting(options(8, 0, 64));
  setting.model.hold();
  std::atomic<bool> gone{false};
  const auto is_gone = [&] { return gone.load(); };
  std::thread predicting([&] {
    expect_refusal(499, "gone", [&] {
      setting.batcher.predict(setting.inputs(1, "x"), {in(10000), is_gone});
    });
  });
  std::vector<std::thread> explaining;
  for (int i = 0; i < 15; ++i)
    explaining.emplace_back([&] {
      expect_refusal(499, "gone", [&] {
        setting.batcher.explain(setting.model.parse("x"), {}, {in(10000), is_gone});
      });
    });
  setting.model.wait_for_calls(2);
  setting.wait_for_queue(14);
  gone = true;
  predicting.join();
  for (std::thread& client : explaining) client.join();
  setting.wait_for_queue(0);
  // One that waited may have been begun before its client was missed; it was stopped then.
  const auto begun = [&] { return static_cast<int>(setting.model.batches().size()); };
  for (const auto until = in(10000); setting.model.stopped() < begun() && Clock::now() < until;)
    std::this_thread::yield();
  EXPECT_EQ(setting.model.stopped(), begun());
  EXPECT_EQ(setting.batcher.waiting(), 0);
  setting.model.release();
  setting.batcher.explain(setting.model.parse("x"), {}, in(10000));
}

TEST(Batcher, OneThatLeavesDoesNotStopTheOthersOfItsBatch) {
  Setting setting(options(2, 60000, 64));
  setting.model.hold();
  setting.ask(1, "patient");
  setting.wait_for_queue(1);
  setting.ask(1, "impatient", 100);
  setting.model.wait_for_calls(1);
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(setting.model.stopped(), 0);
  setting.join();
  EXPECT_EQ(setting.answered, 1);
  EXPECT_EQ(setting.failed, 1);
}

TEST(Batcher, LargeRequestsTakeTurns) {
  Setting setting(options(4, 0, 64));
  setting.block();
  setting.ask(12, "y");
  setting.wait_for_queue(12);
  setting.ask(1, "x");
  setting.wait_for_queue(13);
  setting.join();
  EXPECT_EQ(setting.model.batches(), (Sizes{1, 4, 1, 4, 4}));
  EXPECT_EQ(setting.answered, 3);
}

TEST(Batcher, TheRestOfALargeRequestDoesNotFillTheQueue) {
  Setting setting(options(2, 0, 3));
  setting.model.hold();
  setting.ask(100, "y");
  setting.model.wait_for_calls(1);
  for (int i = 0; i < 3; ++i) setting.ask(1, "x");
  setting.wait_for_queue(3);
  expect_refusal(429, "full with 3 inputs",
                 [&] { setting.batcher.predict(setting.inputs(1, "x"), in(10000)); });
  setting.join();
  EXPECT_EQ(setting.answered, 4);
}

TEST(Batcher, BatchesOfLongInputsAreSmaller) {
  BatcherOptions chosen = options(64, 0, 64);
  chosen.batch_units = 10;
  Setting setting(chosen);
  const BatchAnswer answer = setting.batcher.predict(setting.inputs(5, "four"), in(10000));
  EXPECT_EQ(answer.predictions.size(), 5u);
  EXPECT_EQ(answer.batch, 2);
  EXPECT_EQ(setting.model.batches(), (Sizes{2, 2, 1}));
  setting.batcher.predict(setting.inputs(2, "long:100"), in(10000));
  EXPECT_EQ(setting.model.batches(), (Sizes{2, 2, 1, 1, 1})) << "one input is always taken";
}

TEST(Batcher, OneThatBreaksDoesNotSpoilTheOthers) {
  Setting setting(options(8, 0, 64));
  setting.block();
  setting.ask(1, "fine");
  setting.ask(1, "boom");
  setting.ask(2, "fine too");
  setting.wait_for_queue(4);
  setting.join();
  EXPECT_EQ(setting.answered, 3);
  EXPECT_EQ(setting.failed, 1);
  EXPECT_THROW(setting.batcher.explain(setting.model.parse("boom"), {}, in(10000)),
               std::runtime_error);
  EXPECT_EQ(setting.batcher.predict(setting.inputs(1, "x"), in(10000)).predictions.size(), 1u);
}

TEST(Batcher, TheEndFinishesWhatWaits) {
  std::atomic<int> told{0};
  BatcherOptions chosen = options(8, 60000, 64);
  chosen.batch_done = [&](size_t inputs) { told += static_cast<int>(inputs); };
  FakeModel model;
  std::vector<std::thread> clients;
  std::atomic<int> answered{0};
  {
    Batcher batcher(model, chosen);
    for (int i = 0; i < 3; ++i)
      clients.emplace_back([&] {
        batcher.predict({model.parse("x")}, in(10000));
        ++answered;
      });
    while (batcher.waiting() < 3) std::this_thread::yield();
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 3);
  EXPECT_EQ(told, 3);
}

}  // namespace
}  // namespace fovea::serving::batcher_test
