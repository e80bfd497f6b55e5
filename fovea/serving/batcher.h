// Requests of many clients, answered together. One worker thread owns the model: it takes the
// inputs that wait, up to max_batch of them, when the oldest has waited max_wait or there are
// enough, and predicts them in one call. Explanations run alone, between the batches. The queue is
// bounded: a request that finds it full is refused at once, one that waits longer than its deadline
// is dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fovea/serving/served_model.h"

namespace fovea::serving {

using Clock = std::chrono::steady_clock;

struct BatcherOptions {
  int64_t max_batch = 64;                                   // inputs
  std::chrono::microseconds max_wait{2000};                 // for more of them
  int64_t queue = 256;                                      // inputs that may wait
  std::function<void(size_t inputs)> batch_done = nullptr;  // told of each batch
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

  /// Both block until there is an answer. HttpError 429 when the queue is full, 504 when the
  /// deadline passes; what the model throws is thrown here.
  BatchAnswer predict(std::vector<Example> examples, Clock::time_point deadline);
  Explanation explain(Example example, const ExplainWish& wish, Clock::time_point deadline);

  /// Inputs that wait now.
  int64_t waiting() const;

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  void submit(const JobPtr& job);
  void work();
  std::vector<JobPtr> take();
  std::vector<JobPtr> take_predictions();
  void predict_together(const std::vector<JobPtr>& jobs);
  std::vector<Prediction> predict_in_batches(std::span<const Example> examples);
  void drop_expired();

  ServedModel& model_;
  BatcherOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<JobPtr> queue_;
  int64_t waiting_ = 0;
  bool ending_ = false;
  std::thread worker_;
};

}  // namespace fovea::serving
