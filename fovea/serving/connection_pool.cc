#include "fovea/serving/connection_pool.h"

#include <system_error>

namespace fovea::serving {

ConnectionPool::~ConnectionPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ConnectionPool::try_run(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (busy_ >= most_) return false;
  if (busy_ == threads_.size()) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the system has no more threads for us
      return false;
    }
  }
  ++busy_;
  given_.push_back(std::move(job));
  wake_.notify_one();
  return true;
}

void ConnectionPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !given_.empty(); });
    if (given_.empty()) return;
    const std::function<void()> job = std::move(given_.back());
    given_.pop_back();
    lock.unlock();
    job();
    lock.lock();
    --busy_;
    done_.notify_all();
  }
}

size_t ConnectionPool::busy() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

bool ConnectionPool::wait_for_room(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  return done_.wait_until(lock, until, [this] { return busy_ < most_; });
}

bool ConnectionPool::wait_until_idle(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  return done_.wait_until(lock, until, [this] { return busy_ == 0; });
}

}  // namespace fovea::serving
