#include "fovea/serving/connection_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace fovea::serving {
namespace {

std::chrono::steady_clock::time_point in(int64_t milliseconds) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
}

TEST(ConnectionPool, RunsSoManyAtOnceAndNoMore) {
  std::promise<void> gate;
  const std::shared_future<void> open = gate.get_future().share();
  std::atomic<int> done{0};
  ConnectionPool pool(3);
  const auto job = [&] {
    open.wait();
    ++done;
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pool.try_run(job));
  EXPECT_FALSE(pool.try_run(job));
  EXPECT_EQ(pool.busy(), 3u);
  EXPECT_FALSE(pool.wait_until_idle(in(20)));
  gate.set_value();
  EXPECT_TRUE(pool.wait_until_idle(in(10000)));
  EXPECT_EQ(done, 3);
  EXPECT_TRUE(pool.try_run(job));
  EXPECT_TRUE(pool.wait_until_idle(in(10000)));
  EXPECT_EQ(done, 4);
}

TEST(ConnectionPool, UsesItsThreadsAgain) {
  std::mutex mutex;
  std::vector<std::thread::id> seen;
  ConnectionPool pool(1);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(pool.try_run([&] {
      const std::lock_guard lock(mutex);
      seen.push_back(std::this_thread::get_id());
    }));
    ASSERT_TRUE(pool.wait_until_idle(in(10000)));
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), seen[0]), 50);
}

TEST(ConnectionPool, TheEndWaitsForWhatRuns) {
  std::atomic<bool> done{false};
  {
    ConnectionPool pool(2);
    pool.try_run([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace fovea::serving
