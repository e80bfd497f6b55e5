// Threads that are made when they are first needed and used again.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fovea::serving {

class ThreadPool {
 public:
  ThreadPool() = default;
  /// Waits for everything that runs.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Runs the job, which must not throw, on a thread of its own; false, and nothing happens, when
  /// the system has no more threads.
  bool try_run(std::function<void()> job);

  /// Jobs that are not done.
  size_t busy() const;

 private:
  void work();
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
  std::vector<std::function<void()>> given_;  // jobs that a waiting thread is about to take
  size_t busy_ = 0;                           // running or given
  bool ending_ = false;
};

}  // namespace fovea::serving
