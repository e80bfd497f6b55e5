#include "fovea/serving/thread_pool.h"

#include <system_error>

namespace fovea::serving {

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ThreadPool::try_run(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (busy_ == threads_.size()) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  ++busy_;
  given_.push_back(std::move(job));
  wake_.notify_one();
  return true;
}

size_t ThreadPool::busy() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !given_.empty(); });
    if (given_.empty()) return;
    std::function<void()> job = std::move(given_.back());
    given_.pop_back();
    lock.unlock();
    job();
    job = nullptr;  // with what it holds
    lock.lock();
    --busy_;
  }
}

}  // namespace fovea::serving
