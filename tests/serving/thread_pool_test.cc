#include "fovea/serving/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>

namespace fovea::serving::thread_pool_test {
namespace {

TEST(ThreadPool, RunsEveryJobOnAThreadOfItsOwn) {
  std::promise<void> gate;
  const std::shared_future<void> open = gate.get_future().share();
  std::atomic<int> begun{0}, done{0};
  {
    ThreadPool pool;
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(pool.try_run([&] {
        ++begun;
        open.wait();
        ++done;
      }));
    while (begun < 3) std::this_thread::yield();  // none waits for another
    EXPECT_EQ(done, 0);
    EXPECT_EQ(pool.busy(), 3u);
    gate.set_value();
  }
  EXPECT_EQ(done, 3);
}

TEST(ThreadPool, UsesItsThreadsAgain) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  ThreadPool pool;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(pool.try_run([&] {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    }));
    while (pool.busy() > 0) std::this_thread::yield();
  }
  EXPECT_EQ(seen.size(), 1u);
}

TEST(ThreadPool, TheEndWaitsForWhatRuns) {
  std::atomic<bool> done{false};
  {
    ThreadPool pool;
    pool.try_run([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace fovea::serving::thread_pool_test
