// A model whose answers are its inputs, reversed, and which can be told to wait; while it does, it
// can be stopped. Inputs with a meaning: "bad" does not parse, "boom" breaks the batch that it is
// in, "long:N" has N units.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/serving/served_model.h"

namespace fovea::testing {

class FakeModel : public serving::ServedModel {
 public:
  FakeModel() {
    card_.task = "echo";
    card_.title = "What comes back";
    card_.input_schema = {{"type", "string"}};
    card_.examples = {"abc"};
    card_.maps = {{{"name", "attention"}, {"title", "attention"}}};
    card_.parameters = 7;
  }

  const serving::ModelCard& card() const override { return card_; }

  Example parse(const std::string& line) const override {
    require(line != "bad", ErrorKind::BadData, "'bad' is not an input");
    require(line != "io", ErrorKind::Io, "/secret/path: cannot be read");
    Example example;
    const size_t units = line.starts_with("long:") ? std::stoul(line.substr(5)) : line.size();
    example.axes = {{"letters", "token", std::vector<std::string>(units, "x")}};
    example.given = line;
    return example;
  }

  /// As if every letter looked at every letter.
  int64_t weights(const Example& example, const serving::ExplainRequest&) const override {
    return units(example) * units(example);
  }

  Json answer(const Example&, const Prediction& prediction) const override {
    return {{"text", prediction.outputs.at(0).text}};
  }

  std::vector<Prediction> predict(std::span<const Example> examples) const override {
    enter(examples.size());
    std::vector<Prediction> predictions;
    for (const Example& example : examples) {
      if (example.given == "boom") throw std::runtime_error("the secret of the machine room");
      const std::string reversed(example.given.rbegin(), example.given.rend());
      predictions.emplace_back();
      predictions.back().outputs.push_back({{}, 0, reversed});
    }
    return predictions;
  }

  Explanation explain(const Example& example,
                      const serving::ExplainRequest& request) const override {
    enter(0);
    if (example.given == "boom") throw std::runtime_error("the secret of the machine room");
    Explanation explanation;
    explanation.task = "echo";
    explanation.input = example.given;
    const int64_t heads = request.heads.all == Heads::All ? 2 : 0;
    for (int64_t head = request.heads.all == Heads::All ? 1 : 0; head <= heads; ++head) {
      MapView map;
      map.name = map.title = "attention";
      map.query_axis = "out";
      map.key_axis = "letters";
      map.query_labels = {"p", "q", "r"};
      map.key_labels = {"a", "b"};
      map.weights = {0.25, 0.75, 1, 0, 0.5, 0.5};
      map.head = head;
      explanation.maps.push_back(map);
    }
    explanation.axes = {{"out", "token", {"p", "q", "r"}}, {"letters", "token", {"a", "b"}}};
    if (request.faithfulness) {
      explanation.faithfulness.emplace_back();
      explanation.faithfulness[0].map = "attention";
      explanation.faithfulness[0].verdict = "believe it";
      explanation.faithfulness[0].trust = "supported";
    }
    return explanation;
  }

  /// Says the input again, letter by letter; of a number that many letters.
  bool generates() const override { return true; }
  void generate(const Example& example, const serving::GenerateRequest& request,
                const std::function<void(const Json&)>& tell) const override {
    require(example.given != "early", ErrorKind::BadData, "the prompt has no room");
    enter(0);
    const bool endless = example.given == "endless";
    for (size_t i = 0; endless || i < size_t(request.tokens); ++i) {
      require(example.given != "late" || i < 2, ErrorKind::BadData, "it broke off");
      const char letter = example.given[i % example.given.size()];
      Json event{{"token", letter}, {"text", std::string(1, letter)}};
      if (request.attention) event["attention"] = {{1.0}};
      try {
        tell(event);
      } catch (const Stopped&) {
        ++stopped_;
        throw;
      }
    }
    tell({{"done", true}, {"text", "all"}, {"tokens", request.tokens}});
  }

  /// Everything stays inside the model until release(); or only explanations do.
  void hold() { set_held(true, true); }
  void hold_explanations() { set_held(false, true); }
  void release() { set_held(false, false); }
  /// How much work was stopped while it was held.
  int stopped() const { return stopped_; }
  void wait_for_stops(int count) const {
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
         stopped_ < count && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  /// Until the model has been called that often.
  void wait_for_calls(size_t count) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return batches_.size() >= count; });
  }
  /// Sizes of the batches so far; 0 is an explanation.
  std::vector<size_t> batches() const {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

 private:
  void set_held(bool predictions, bool explanations) {
    {
      const std::lock_guard lock(mutex_);
      holds_predictions_ = predictions;
      holds_explanations_ = explanations;
    }
    changed_.notify_all();
  }

  void enter(size_t inputs) const {
    std::unique_lock lock(mutex_);
    batches_.push_back(inputs);
    changed_.notify_all();
    while (inputs == 0 ? holds_explanations_ : holds_predictions_) {
      changed_.wait_for(lock, std::chrono::milliseconds(1));
      try {
        stop_if_asked();
      } catch (const Stopped&) {
        ++stopped_;
        throw;
      }
    }
  }

  serving::ModelCard card_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::vector<size_t> batches_;
  mutable std::atomic<int> stopped_{0};
  bool holds_predictions_ = false, holds_explanations_ = false;
};

}  // namespace fovea::testing
