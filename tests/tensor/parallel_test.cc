#include "fovea/tensor/parallel.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fovea::parallel_test {
namespace {

class Parallel : public ::testing::Test {
 protected:
  ~Parallel() override { set_threads(1); }  // other tests find what a program starts with
};

/// How often each job ran.
std::vector<int> runs_of(int64_t count) {
  std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
  run_parallel(count, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
  return {runs.begin(), runs.end()};
}

std::vector<int> once(int64_t count) {
  return std::vector<int>(static_cast<size_t>(count), 1);
}

/// The threads that took part in `count` jobs.
std::set<std::thread::id> threads_seen(int64_t count) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  run_parallel(count, [&](int64_t) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return seen;
}

/// Whether `count` jobs are all under way at the same time: each waits for the others.
bool meet(int64_t count) {
  std::mutex mutex;
  std::condition_variable arrival;
  int64_t arrived = 0;
  bool given_up = false;
  run_parallel(count, [&](int64_t) {
    std::unique_lock lock(mutex);
    ++arrived;
    arrival.notify_all();
    const auto decided = [&] { return arrived == count || given_up; };
    given_up |= !arrival.wait_for(lock, std::chrono::seconds(20), decided);
  });
  return !given_up;
}

TEST_F(Parallel, EveryJobRunsOnce) {
  for (const int64_t threads : {1, 2, 5}) {
    set_threads(threads);
    for (const int64_t count : {0, 1, 2, 3, 4, 7, 1000})
      EXPECT_EQ(runs_of(count), once(count)) << threads << " threads";
  }
}

TEST_F(Parallel, NothingIsLostOverManyRounds) {
  for (const int64_t threads : {2, 5}) {
    set_threads(threads);
    for (int64_t round = 0; round < 2000; ++round) {
      const int64_t count = round % 9;
      ASSERT_EQ(runs_of(count), once(count)) << threads << " threads, round " << round;
    }
  }
}

TEST_F(Parallel, JobsAreDoneWhenItReturns) {
  set_threads(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> squares(64);  // plain memory: seen here without a lock
    run_parallel(64, [&](int64_t i) { squares[static_cast<size_t>(i)] = i * i; });
    for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(squares[static_cast<size_t>(i)], i * i);
  }
}

TEST_F(Parallel, AnExceptionComesBackAndThePoolGoesOn) {
  for (const int64_t threads : {1, 2, 5}) {
    set_threads(threads);
    for (int64_t bad = 0; bad < 20; ++bad) {
      std::atomic<int> under_way{0};
      std::string message;
      try {
        run_parallel(20, [&](int64_t i) {
          ++under_way;
          if (i == bad) --under_way, throw std::runtime_error("job " + std::to_string(i));
          std::this_thread::yield();
          --under_way;
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      EXPECT_EQ(message, "job " + std::to_string(bad)) << threads << " threads";
      EXPECT_EQ(under_way, 0) << "a job outlived the call";
      ASSERT_EQ(runs_of(20), once(20)) << threads << " threads";
    }
  }
}

TEST_F(Parallel, OneOfSeveralExceptionsComesBack) {
  set_threads(5);
  for (int round = 0; round < 100; ++round)
    EXPECT_THROW(run_parallel(20, [](int64_t) { throw std::out_of_range("all of them"); }),
                 std::out_of_range);
  EXPECT_EQ(runs_of(20), once(20));
}

TEST_F(Parallel, AsManyJobsAreUnderWayAsThereAreThreads) {
  for (const int64_t threads : {2, 5, 3}) {
    set_threads(threads);
    EXPECT_EQ(fovea::threads(), threads);
    EXPECT_TRUE(meet(threads)) << threads << " threads";
    EXPECT_TRUE(meet(2)) << "fewer jobs than " << threads << " threads";
    EXPECT_LE(threads_seen(500).size(), static_cast<size_t>(threads));
  }
}

TEST_F(Parallel, OneThreadIsTheCallersOwn) {
  set_threads(5);
  runs_of(10);
  set_threads(1);
  EXPECT_EQ(threads(), 1);
  EXPECT_EQ(threads_seen(500), std::set{std::this_thread::get_id()});
}

TEST_F(Parallel, ZeroMeansOnePerProcessor) {
  set_threads(0);
  EXPECT_EQ(threads(), std::max<int64_t>(1, std::thread::hardware_concurrency()));
  EXPECT_EQ(runs_of(50), once(50));
}

TEST_F(Parallel, JobsInsideJobsRunWhereTheyAre) {
  for (const int64_t threads : {1, 2, 5}) {
    set_threads(threads);
    std::vector<std::atomic<int>> runs(20 * 30);
    std::atomic<int> strangers{0};
    run_parallel(20, [&](int64_t outer) {
      const auto here = std::this_thread::get_id();
      run_parallel(30, [&](int64_t inner) {
        ++runs[static_cast<size_t>(outer * 30 + inner)];
        strangers += std::this_thread::get_id() != here;
      });
    });
    EXPECT_EQ(std::vector<int>(runs.begin(), runs.end()), once(600)) << threads << " threads";
    EXPECT_EQ(strangers, 0);
    EXPECT_THROW(
        run_parallel(
            4, [](int64_t) { run_parallel(4, [](int64_t) { throw std::out_of_range("inner"); }); }),
        std::out_of_range);
    EXPECT_EQ(runs_of(50), once(50)) << "the workers are free again";
  }
}

TEST_F(Parallel, ALoneJobMayUseAllThreads) {
  set_threads(2);
  bool met = false;
  run_parallel(1, [&](int64_t) { met = meet(2); });
  EXPECT_TRUE(met);
}

TEST_F(Parallel, SeveralThreadsMayCallAtTheSameTime) {
  set_threads(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) wrong += runs_of(7) != once(7);
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Parallel, TheNumberOfThreadsMayChangeWhileAnotherThreadIsAtWork) {
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread caller([&] {
    for (int round = 0; round < 2000; ++round) wrong += runs_of(7) != once(7);
    done = true;
  });
  for (int64_t count = 1; !done; count = count % 5 + 1) set_threads(count);
  caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Parallel, AJobMayChangeTheNumberOfThreads) {
  set_threads(3);
  run_parallel(4, [](int64_t i) { set_threads(i + 1); });
  EXPECT_EQ(runs_of(50), once(50));
}

TEST_F(Parallel, EveryJobComputesWithOneThreadOfTheLibrary) {
  at::set_num_threads(4);
  set_threads(3);
  std::atomic<int> others{0};
  run_parallel(60, [&](int64_t) { others += at::get_num_threads() != 1; });
  EXPECT_EQ(others, 0);
  EXPECT_EQ(at::get_num_threads(), 1);
}

}  // namespace
}  // namespace fovea::parallel_test
