#include "fovea/serving/batcher.h"

#include <algorithm>

#include "fovea/serving/http_error.h"

namespace fovea::serving {

/// Shared by the connection that waits for it and the worker: either may leave first.
struct Batcher::Job {
  std::vector<Example> examples;        // of a prediction
  size_t taken = 0;                     // of them: predicted, or about to be
  std::vector<Prediction> predictions;  // so far
  int64_t first_batch = 0;
  std::promise<BatchAnswer> answer;

  std::function<void()> explain;  // of an explanation; fulfils its own promise

  Clock::time_point deadline, queued = Clock::now();
  std::atomic<bool> abandoned{false};
  int64_t left() const { return static_cast<int64_t>(examples.size() - taken); }
  /// Inputs that wait. What has begun does not: the rest of a large request must not fill the
  /// queue.
  int64_t waiting() const { return taken == 0 ? left() : 0; }
  bool is_unwanted(Clock::time_point now) const { return abandoned || now >= deadline; }
};

namespace {

constexpr std::chrono::milliseconds kLookForClient{50};  // how often

}  // namespace

Batcher::Batcher(ServedModel& model, BatcherOptions options)
    : model_(model),
      options_(std::move(options)),
      predictor_([this] { predict_all(); }),
      explainer_([this] { explain_all(); }) {}

Batcher::~Batcher() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_predictor_.notify_all();
  wake_explainer_.notify_all();
  predictor_.join();
  explainer_.join();
}

int64_t Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_predictions_ + static_cast<int64_t>(explanations_.size());
}

void Batcher::refuse_late() {
  throw HttpError(504, "timeout", "the answer took longer than the time limit; try again later");
}

/// Until there is an answer, or nobody wants it any more.
void Batcher::wait(const JobPtr& job, const Caller& caller,
                   const std::function<bool(Clock::time_point until)>& is_ready) {
  for (;;) {
    const auto next =
        caller.is_gone ? std::min(caller.deadline, Clock::now() + kLookForClient) : caller.deadline;
    if (is_ready(next)) return;
    if (Clock::now() >= caller.deadline) {
      job->abandoned = true;
      refuse_late();
    }
    if (caller.is_gone && caller.is_gone()) {
      job->abandoned = true;
      throw HttpError(499, "client_gone", "the client has gone before its answer was there");
    }
  }
}

BatchAnswer Batcher::predict(std::vector<Example> examples, const Caller& caller) {
  const auto job = std::make_shared<Job>();
  job->examples = std::move(examples);
  job->deadline = caller.deadline;
  std::future<BatchAnswer> future = job->answer.get_future();
  submit(job, predictions_);
  wait(job, caller, [&](Clock::time_point until) {
    return future.wait_until(until) == std::future_status::ready;
  });
  return future.get();
}

Explanation Batcher::explain(Example example, const ExplainRequest& request, const Caller& caller) {
  return explain_with([example = std::move(example),
                       request](ServedModel& model) { return model.explain(example, request); },
                      caller);
}

Batcher::JobPtr Batcher::submit_explanation(std::function<void()> work, const Caller& caller) {
  const auto job = std::make_shared<Job>();
  job->deadline = caller.deadline;
  job->explain = std::move(work);
  submit(job, explanations_);
  return job;
}

void Batcher::submit(const JobPtr& job, Queue& queue) {
  const std::lock_guard lock(mutex_);
  const auto waiting = [this] { return waiting_predictions_ + int64_t(explanations_.size()); };
  if (waiting() >= options_.queue) drop_unwanted();
  if (waiting() >= options_.queue)
    throw HttpError(429, "queue_full",
                    concat("the queue of this model is full with ", waiting(),
                           " inputs; try again in a moment"));
  queue.push_back(job);
  if (job->explain) return wake_explainer_.notify_one();
  waiting_predictions_ += job->waiting();
  if (queue.size() == 1 || waiting_predictions_ >= options_.max_batch) wake_predictor_.notify_one();
}

/// Whoever waited for them has gone.
void Batcher::drop_unwanted() {
  const auto now = Clock::now();
  for (Queue* queue : {&predictions_, &explanations_})
    std::erase_if(*queue, [&](const JobPtr& job) {
      if (!job->is_unwanted(now)) return false;
      waiting_predictions_ -= job->waiting();
      return true;
    });
}

void Batcher::explain_all() {
  model_.enter_worker();
  while (const JobPtr job = take_explanation()) {
    const StopScope scope([&] { return job->is_unwanted(Clock::now()); });
    job->explain();
  }
}

/// Null at the end.
Batcher::JobPtr Batcher::take_explanation() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_explainer_.wait(lock, [this] { return ending_ || !explanations_.empty(); });
    drop_unwanted();
    if (!explanations_.empty()) break;
    if (ending_) return nullptr;
  }
  const JobPtr job = std::move(explanations_.front());
  explanations_.pop_front();
  return job;
}

void Batcher::predict_all() {
  model_.enter_worker();
  for (;;) {
    const std::vector<Slice> slices = take();
    if (slices.empty()) return;
    predict_together(slices);
  }
}

std::vector<Batcher::Slice> Batcher::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_predictor_.wait(lock, [this] { return ending_ || !predictions_.empty(); });
    drop_unwanted();
    if (predictions_.empty()) {
      if (ending_) return {};
      continue;
    }
    wake_predictor_.wait_until(lock, predictions_.front()->queued + options_.max_wait, [this] {
      return ending_ || waiting_predictions_ >= options_.max_batch;
    });
    drop_unwanted();
    std::vector<Slice> slices = take_slices();
    if (!slices.empty()) return slices;  // they may have been dropped meanwhile
  }
}

/// How many of the job's next inputs fit into a batch that has `inputs` of at most `longest` units.
size_t Batcher::fitting(const Job& job, size_t inputs, int64_t longest) const {
  size_t count = 0;
  for (size_t i = job.taken; i < job.examples.size(); ++i, ++count) {
    longest = std::max(longest, model_.units(job.examples[i]));
    const auto together = static_cast<int64_t>(inputs + count + 1);
    if (together > options_.max_batch) break;
    if (together > 1 && longest > options_.batch_units / together) break;
  }
  return count;
}

/// The first job, as much of it as fits, and whatever else fits beside it as a whole.
std::vector<Batcher::Slice> Batcher::take_slices() {
  std::vector<Slice> slices;
  size_t inputs = 0;
  int64_t longest = 0;
  for (auto next = predictions_.begin(); next != predictions_.end();) {
    Job& job = **next;
    const size_t count = fitting(job, inputs, longest);
    const bool whole = static_cast<int64_t>(count) == job.left();
    if (!slices.empty() && !whole) {
      ++next;
      continue;
    }
    for (size_t i = 0; i < count; ++i)
      longest = std::max(longest, model_.units(job.examples[job.taken + i]));
    waiting_predictions_ -= job.waiting();
    slices.push_back({*next, job.taken, count});
    job.taken += count;
    inputs += count;
    next = predictions_.erase(next);
    if (static_cast<int64_t>(inputs) >= options_.max_batch) break;
  }
  return slices;
}

std::vector<Prediction> Batcher::predict_batch(std::span<const Example> examples,
                                               std::span<const Slice> slices) {
  const StopScope scope([&] {
    const auto now = Clock::now();
    return std::all_of(slices.begin(), slices.end(),
                       [&](const Slice& slice) { return slice.job->is_unwanted(now); });
  });
  stop_if_asked();
  std::vector<Prediction> predictions = model_.predict(examples);
  require(predictions.size() == examples.size(), ErrorKind::Internal, "the model gave ",
          predictions.size(), " predictions for ", examples.size(), " inputs");
  if (options_.batch_done) options_.batch_done(examples.size());
  return predictions;
}

void Batcher::predict_together(const std::vector<Slice>& slices) {
  std::vector<Example> examples;
  for (const Slice& slice : slices)
    std::move(slice.job->examples.begin() + static_cast<int64_t>(slice.begin),
              slice.job->examples.begin() + static_cast<int64_t>(slice.begin + slice.count),
              std::back_inserter(examples));
  std::vector<Prediction> predictions;
  std::exception_ptr failure;
  try {
    predictions = predict_batch(examples, slices);
  } catch (...) {
    failure = std::current_exception();
  }
  size_t begin = 0;
  for (const Slice& slice : slices) {
    const size_t first = begin;
    begin += slice.count;
    if (slice.begin == 0)
      slice.job->first_batch = static_cast<int64_t>(failure ? slice.count : examples.size());
    try {
      if (!failure) {
        const auto from =
            std::make_move_iterator(predictions.begin() + static_cast<int64_t>(first));
        finish(slice, {from, from + static_cast<int64_t>(slice.count)});
      } else if (slices.size() == 1) {
        std::rethrow_exception(failure);
      } else {  // one request must not spoil those that it happened to meet
        finish(slice, predict_batch(std::span(examples).subspan(first, slice.count), {&slice, 1}));
      }
    } catch (...) {
      give_up(slice, std::current_exception());
    }
  }
}

/// The job has its answer, or goes on behind those that wait.
void Batcher::finish(const Slice& slice, std::vector<Prediction> predictions) {
  Job& job = *slice.job;
  std::move(predictions.begin(), predictions.end(), std::back_inserter(job.predictions));
  if (job.left() == 0) return job.answer.set_value({std::move(job.predictions), job.first_batch});
  const std::lock_guard lock(mutex_);
  predictions_.push_back(slice.job);
}

void Batcher::give_up(const Slice& slice, std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Stopped&) {  // nobody listens
  } catch (...) {
    slice.job->answer.set_exception(failure);
  }
}

}  // namespace fovea::serving
