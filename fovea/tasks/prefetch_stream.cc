#include <chrono>

#include "fovea/base/text.h"
#include "fovea/tasks/prefetch.h"
#include "fovea/tasks/prefetch_parts.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kTogether = 2048;  // accesses that are answered at once

/// Accesses that wait for an answer, and as many before them as a window needs.
class Waiting {
 public:
  explicit Waiting(int64_t before) : before_(size_t(before)) {}
  void add(const StoredAccess& access) { accesses_.push_back(access), ++waiting_; }
  int64_t size() const { return waiting_; }
  /// Up to the index-th of those that wait, with it.
  std::span<const StoredAccess> window(int64_t index) const {
    const size_t end = accesses_.size() - size_t(waiting_) + size_t(index) + 1;
    const size_t begin = end > before_ + 1 ? end - before_ - 1 : 0;
    return std::span<const StoredAccess>(accesses_).subspan(begin, end - begin);
  }
  void clear() {
    waiting_ = 0;
    if (accesses_.size() > before_)
      accesses_.erase(accesses_.begin(), accesses_.end() - ptrdiff_t(before_));
  }

 private:
  size_t before_;
  int64_t waiting_ = 0;
  std::vector<StoredAccess> accesses_;
};

/// Answers accesses, some thousands at a time.
class Answers {
 public:
  Answers(const PrefetchTask& task, const Model& model, TraceEncoder encoder, bool json)
      : task_(task),
        model_(model),
        encoder_(std::move(encoder)),
        json_(json),
        waiting_(encoder_.shape().accesses) {}

  /// `named`: by a prefetcher, empty where there is none.
  void add(const StoredAccess& access, std::span<const int64_t> named) {
    waiting_.add(access);
    named_.insert(named_.end(), named.begin(), named.end());
  }
  int64_t waiting() const { return waiting_.size(); }

  void give(const std::function<void(const std::string& line)>& answer) {
    std::vector<std::string> lines(static_cast<size_t>(waiting_.size()));
    in_parts(model_, waiting_.size(),
             [&](int64_t begin, int64_t end) { write(begin, end, lines); });
    for (const std::string& line : lines) answer(line);
    waiting_.clear();
    named_.clear();
  }

 private:
  void write(int64_t begin, int64_t end, std::vector<std::string>& lines) {
    std::vector<Example> examples;
    const auto degree = int64_t(named_.size()) / waiting_.size();
    for (int64_t i = begin; i < end; ++i) {
      examples.emplace_back().tensors = encoder_.numbers(waiting_.window(i));
      if (degree > 0)
        examples.back().tensors["candidates"] =
            at::from_blob(named_.data() + i * degree, {degree}, at::kLong);
    }
    const Predictions predictions = model_.predict(encoder_.collate(examples).to(model_.device()));
    std::vector<Prediction> finished;
    for (int64_t i = 0; i < end - begin; ++i) finished.push_back(predictions.at(i));
    task_.finish(model_, examples, finished);
    for (int64_t i = begin; i < end; ++i)
      lines[size_t(i)] = line_of_answer(waiting_.window(i).back(), examples[size_t(i - begin)],
                                        finished[size_t(i - begin)]);
  }

  std::string line_of_answer(const StoredAccess& access, const Example& example,
                             const Prediction& prediction) const {
    const std::string now = hexadecimal(address_of_line(access.line));
    if (!json_) return concat(now, "\t", task_.answer_line(example, prediction));
    Json object{{"access", now}};
    object.update(task_.answer(example, prediction));
    return object.dump();
  }

  const PrefetchTask& task_;
  const Model& model_;
  TraceEncoder encoder_;
  bool json_;
  Waiting waiting_;
  std::vector<int64_t> named_;
};

}  // namespace

StreamReport PrefetchTask::stream(const Model& model, const std::filesystem::path& path, bool json,
                                  const std::function<void(const std::string& line)>& tell) const {
  const auto start = std::chrono::steady_clock::now();
  TraceReader reader(path, data_.cut_trace());
  TraceFilter filter(data_.filter);
  Answers answers(*this, model, encoder(), json);
  const auto known = prefetcher();
  std::vector<int64_t> named(known ? size_t(degree()) : 0);
  StreamReport report;
  TraceAccess access;
  while (reader.next(access)) {
    ++report.events;
    if (!filter.sees(access)) continue;
    const StoredAccess stored{line_of(access.address), access.pc};
    if (known) {
      known->see(stored, /*learns=*/!baseline_.frozen);
      known->name(named);
    }
    answers.add(stored, named);
    ++report.predictions;
    if (answers.waiting() == kTogether) answers.give(tell);
  }
  answers.give(tell);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.notes = reader.notes();
  return report;
}

}  // namespace fovea
