#include "fovea/tensor/parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// Threads that wait for work and die with the process. The caller does not wait for threads that
/// wake up too late to find work.
class Workers {
 public:
  ~Workers() { resize(0); }

  void resize(size_t count) {
    if (count == threads_.size()) return;
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    ending_ = false;
    for (size_t i = 0; i < count; ++i)
      threads_.emplace_back([this, seen = round_] { serve(seen); });
  }

  size_t size() const { return threads_.size(); }

  void run(int64_t count, const std::function<void(int64_t)>& job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      count_ = count;
      next_ = 0;
      failure_ = nullptr;
      open_ = true;
      ++round_;
    }
    wake_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    open_ = false;
    done_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    for (int64_t i = next_++; i < count_; i = next_++) {
      try {
        (*job_)(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_ = count_;  // the rest is not wanted any more
      }
    }
  }

  void serve(uint64_t seen) {
    at::set_num_threads(1);  // OpenMP keeps this setting per thread
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return ending_ || (open_ && round_ != seen); });
        if (ending_) return;
        seen = round_;
        ++busy_;
      }
      work();
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_all();
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int64_t)>* job_ = nullptr;
  std::atomic<int64_t> next_{0};
  int64_t count_ = 0;
  size_t busy_ = 0;    // threads that take part in this round
  bool open_ = false;  // a round still takes threads
  uint64_t round_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
};

Workers& workers() {
  static Workers pool;
  return pool;
}

std::atomic<int64_t> thread_count = 1;
std::mutex workers_mutex;                 // held by the one who runs jobs on the workers
thread_local bool holds_workers = false;  // by this thread: a job of its own asks again

struct Holding {
  Holding() { holds_workers = true; }
  ~Holding() { holds_workers = false; }
};

void run_in_place(int64_t count, const std::function<void(int64_t)>& job) {
  for (int64_t i = 0; i < count; ++i) job(i);
}

}  // namespace

void set_threads(int64_t count) {
  thread_count = count > 0 ? count : std::max<int64_t>(1, std::thread::hardware_concurrency());
  at::set_num_threads(1);
  // Idle workers end and are started again when there is work. Where another thread runs jobs on
  // them they stay: the next run_parallel() brings them to this number.
  if (holds_workers) return;
  const std::unique_lock claim(workers_mutex, std::try_to_lock);
  if (claim) workers().resize(0);
}

int64_t threads() {
  return thread_count;
}

void run_parallel(int64_t count, const std::function<void(int64_t)>& job) {
  const int64_t threads = thread_count;
  if (count <= 1 || threads <= 1 || holds_workers) return run_in_place(count, job);
  const std::unique_lock claim(workers_mutex, std::try_to_lock);
  if (!claim) return run_in_place(count, job);
  const Holding holding;
  workers().resize(static_cast<size_t>(threads - 1));
  workers().run(count, job);
}

void Jobs::add_blocks(int64_t count, int64_t most,
                      const std::function<void(int64_t, int64_t)>& job) {
  for (int64_t begin = 0; begin < count; begin += most)
    add([=] { job(begin, std::min(most, count - begin)); });
}

void Jobs::add_product(const at::Tensor& target, const at::Tensor& left, const at::Tensor& right) {
  add_blocks(target.size(0), kWeightBlock, [=](int64_t begin, int64_t count) {
    at::Tensor block = target.narrow(0, begin, count);
    at::mm_out(block, left.narrow(1, begin, count).t(), right);
  });
}

void Jobs::run() const {
  run_parallel(static_cast<int64_t>(jobs_.size()), [this](int64_t job) {
    torch::NoGradGuard no_gradients;  // every thread has its own setting
    jobs_[static_cast<size_t>(job)]();
  });
}

}  // namespace fovea
