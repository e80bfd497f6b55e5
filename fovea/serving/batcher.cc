#include "fovea/serving/batcher.h"

#include <algorithm>

#include "fovea/serving/http_error.h"

namespace fovea::serving {

/// Shared by the connection that waits for it and the worker: either may leave first.
struct Batcher::Job {
  std::vector<Example> examples;
  Clock::time_point deadline, queued = Clock::now();
  std::function<void()> alone;  // what is not a prediction; fulfils its own promise
  std::promise<BatchAnswer> answer;
  int64_t size() const { return std::max<int64_t>(1, static_cast<int64_t>(examples.size())); }
};

namespace {

template <class Result>
Result wait_for(std::future<Result>& future, Clock::time_point deadline) {
  if (future.wait_until(deadline) == std::future_status::ready) return future.get();
  throw HttpError(504, "timeout", "the answer took longer than the time limit; try again later");
}

}  // namespace

Batcher::Batcher(ServedModel& model, BatcherOptions options)
    : model_(model), options_(std::move(options)), worker_([this] { work(); }) {}

Batcher::~Batcher() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  worker_.join();
}

int64_t Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

BatchAnswer Batcher::predict(std::vector<Example> examples, Clock::time_point deadline) {
  const auto job = std::make_shared<Job>();
  job->examples = std::move(examples);
  job->deadline = deadline;
  std::future<BatchAnswer> future = job->answer.get_future();
  submit(job);
  return wait_for(future, deadline);
}

Explanation Batcher::explain(Example example, const ExplainWish& wish, Clock::time_point deadline) {
  const auto task = std::make_shared<std::packaged_task<Explanation()>>(
      [this, example = std::move(example), wish] { return model_.explain(example, wish); });
  const auto job = std::make_shared<Job>();
  job->deadline = deadline;
  job->alone = [task] { (*task)(); };
  std::future<Explanation> future = task->get_future();
  submit(job);
  return wait_for(future, deadline);
}

void Batcher::submit(const JobPtr& job) {
  const std::lock_guard lock(mutex_);
  if (waiting_ >= options_.queue) drop_expired();
  if (waiting_ >= options_.queue)
    throw HttpError(429, "queue_full",
                    concat("the queue of this model is full with ", waiting_,
                           " inputs; try again in a moment"));
  queue_.push_back(job);
  waiting_ += job->size();
  if (queue_.size() == 1 || waiting_ >= options_.max_batch) wake_.notify_one();
}

/// Whoever waited for them has gone.
void Batcher::drop_expired() {
  const auto now = Clock::now();
  std::erase_if(queue_, [&](const JobPtr& job) {
    if (job->deadline > now) return false;
    waiting_ -= job->size();
    return true;
  });
}

void Batcher::work() {
  model_.enter_worker();
  for (;;) {
    const std::vector<JobPtr> jobs = take();
    if (jobs.empty()) return;
    if (jobs[0]->alone)
      jobs[0]->alone();
    else
      predict_together(jobs);
  }
}

std::vector<Batcher::JobPtr> Batcher::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    drop_expired();
    if (queue_.empty()) {
      if (ending_) return {};
      continue;
    }
    if (queue_.front()->alone) {
      std::vector<JobPtr> one{queue_.front()};
      queue_.pop_front();
      waiting_ -= one[0]->size();
      return one;
    }
    wake_.wait_until(lock, queue_.front()->queued + options_.max_wait,
                     [this] { return ending_ || waiting_ >= options_.max_batch; });
    std::vector<JobPtr> jobs = take_predictions();
    if (!jobs.empty()) return jobs;  // they may have expired meanwhile
  }
}

/// From the whole queue: an explanation further in front than one of them is next anyway.
std::vector<Batcher::JobPtr> Batcher::take_predictions() {
  std::vector<JobPtr> jobs;
  int64_t inputs = 0;
  for (auto job = queue_.begin(); job != queue_.end() && inputs < options_.max_batch;) {
    const bool fits = jobs.empty() || inputs + (*job)->size() <= options_.max_batch;
    if ((*job)->alone || !fits) {
      ++job;
      continue;
    }
    inputs += (*job)->size();
    jobs.push_back(std::move(*job));
    job = queue_.erase(job);
  }
  waiting_ -= inputs;
  return jobs;
}

std::vector<Prediction> Batcher::predict_in_batches(std::span<const Example> examples) {
  std::vector<Prediction> predictions;
  const auto most = static_cast<size_t>(options_.max_batch);
  for (size_t begin = 0; begin < examples.size(); begin += most) {
    const auto some = examples.subspan(begin, std::min(most, examples.size() - begin));
    std::vector<Prediction> part = model_.predict(some);
    require(part.size() == some.size(), ErrorKind::Internal, "the model gave ", part.size(),
            " predictions for ", some.size(), " inputs");
    std::move(part.begin(), part.end(), std::back_inserter(predictions));
    if (options_.batch_done) options_.batch_done(some.size());
  }
  return predictions;
}

void Batcher::predict_together(const std::vector<JobPtr>& jobs) {
  std::vector<Example> examples;
  std::vector<size_t> sizes;
  for (const JobPtr& job : jobs) {
    sizes.push_back(job->examples.size());
    std::move(job->examples.begin(), job->examples.end(), std::back_inserter(examples));
  }
  std::vector<Prediction> predictions;
  std::exception_ptr failure;
  try {
    predictions = predict_in_batches(examples);
  } catch (...) {
    failure = std::current_exception();
  }
  const int64_t together = std::min<int64_t>(options_.max_batch, int64_t(examples.size()));
  size_t begin = 0;
  for (size_t i = 0; i < jobs.size(); begin += sizes[i++]) {
    try {
      BatchAnswer answer{{}, together};
      if (failure && jobs.size() == 1) std::rethrow_exception(failure);
      if (failure) {  // one request must not spoil those that it happened to meet
        answer = {predict_in_batches(std::span(examples).subspan(begin, sizes[i])),
                  static_cast<int64_t>(sizes[i])};
      } else {
        const auto first = predictions.begin() + static_cast<int64_t>(begin);
        answer.predictions.assign(std::make_move_iterator(first),
                                  std::make_move_iterator(first + int64_t(sizes[i])));
      }
      jobs[i]->answer.set_value(std::move(answer));
    } catch (...) {
      jobs[i]->answer.set_exception(std::current_exception());
    }
  }
}

}  // namespace fovea::serving
