// A thread per connection, made when it is first needed and used again: at most a fixed number of
// them, and no queue. What finds all of them busy is refused by the caller.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fovea::serving {

class ConnectionPool {
 public:
  explicit ConnectionPool(size_t most) : most_(most) {}
  /// Waits for everything that runs.
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  /// Runs the job on a thread of its own; false, and nothing happens, when all are busy. A job must
  /// not throw.
  bool try_run(std::function<void()> job);

  size_t busy() const;
  /// False when all are busy still then.
  bool wait_for_room(std::chrono::steady_clock::time_point until);
  /// False when something still runs then.
  bool wait_until_idle(std::chrono::steady_clock::time_point until);

 private:
  void work();
  const size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, done_;  // work is there; some of it is done
  std::vector<std::thread> threads_;
  std::vector<std::function<void()>> given_;  // jobs that a waiting thread is about to take
  size_t busy_ = 0;                           // running or given
  bool ending_ = false;
};

}  // namespace fovea::serving
