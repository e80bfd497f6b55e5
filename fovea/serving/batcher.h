// Requests of many clients, answered together. Each model has two worker threads. One predicts: it
// takes the inputs that wait, up to max_batch of them, when the oldest has waited max_wait or there
// are enough, and predicts them in one call; a request that is larger than a batch takes turns with
// the others. The other one explains, one request after the other, so that no prediction waits
// behind an explanation. The queue is bounded: a request that finds it full is refused at once.
// Work that nobody waits for any more, since its time is up or its client has gone, is dropped from
// the queue, and stopped where it is under way (base/stop.h).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "fovea/base/stop.h"
#include "fovea/serving/clock.h"
#include "fovea/serving/served_model.h"

namespace fovea::serving {

struct BatcherOptions {
  int64_t max_batch = 64;                                   // inputs
  std::chrono::microseconds max_wait{2000};                 // for more of them
  int64_t queue = 256;                                      // inputs that may wait
  std::function<void(size_t inputs)> batch_done = nullptr;  // told of each batch
  int64_t batch_units =
      16384;  // inputs of a batch times the units of the longest, unless it is one
};

/// Who waits for an answer, and for how long.
struct Caller {
  Caller(Clock::time_point deadline, std::function<bool()> is_gone = {})
      : deadline(deadline), is_gone(std::move(is_gone)) {}
  Clock::time_point deadline;
  std::function<bool()> is_gone;  // asked now and then by the thread that waits; may be empty
};

struct BatchAnswer {
  std::vector<Prediction> predictions;
  int64_t batch =
      0;  // inputs that were predicted together with the first of these, itself included
};

class Batcher {
 public:
  /// The model must outlive this object.
  Batcher(ServedModel& model, BatcherOptions options);
  /// Finishes what waits.
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// These block until there is an answer. HttpError 429 when the queue is full, 504 when the
  /// deadline passes, 499 when the client has gone; what the model throws is thrown here.
  BatchAnswer predict(std::vector<Example> examples, const Caller& caller);
  Explanation explain(Example example, const ExplainRequest& request, const Caller& caller);

  /// What `work` makes of the model, on the thread that explains: what takes as much memory as an
  /// explanation is done for one request at a time. `work` may outlive the call.
  template <class Work>
  std::invoke_result_t<Work, ServedModel&> explain_with(Work work, const Caller& caller) {
    using Result = std::invoke_result_t<Work, ServedModel&>;
    const auto task = std::make_shared<std::packaged_task<Result()>>(
        [this, work = std::move(work)]() mutable { return work(model_); });
    std::future<Result> future = task->get_future();
    const auto is_ready = [&](Clock::time_point until) {
      return future.wait_until(until) == std::future_status::ready;
    };
    wait(submit_explanation([task] { (*task)(); }, caller), caller, is_ready);
    try {
      return future.get();
    } catch (const Stopped&) {
      refuse_late();
    }
  }

  /// Inputs that wait now.
  int64_t waiting() const;

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  /// Some inputs of a job, which are predicted next.
  struct Slice {
    JobPtr job;
    size_t begin = 0, count = 0;
  };
  using Queue = std::deque<JobPtr>;

  JobPtr submit_explanation(std::function<void()> work, const Caller& caller);
  void submit(const JobPtr& job, Queue& queue);
  static void wait(const JobPtr& job, const Caller& caller,
                   const std::function<bool(Clock::time_point until)>& is_ready);
  [[noreturn]] static void refuse_late();
  void drop_unwanted();

  void explain_all();
  JobPtr take_explanation();

  void predict_all();
  std::vector<Slice> take();
  std::vector<Slice> take_slices();
  size_t fitting(const Job& job, size_t inputs, int64_t longest) const;
  void predict_together(const std::vector<Slice>& slices);
  std::vector<Prediction> predict_batch(std::span<const Example> examples,
                                        std::span<const Slice> slices);
  void finish(const Slice& slice, std::vector<Prediction> predictions);
  void give_up(const Slice& slice, std::exception_ptr failure);

  ServedModel& model_;
  BatcherOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_predictor_, wake_explainer_;
  Queue predictions_, explanations_;
  int64_t waiting_predictions_ = 0;  // inputs of requests that have not begun
  bool ending_ = false;
  std::thread predictor_, explainer_;
};

}  // namespace fovea::serving
