#include "fovea/tasks/watch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/explain/record/json.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/step_log.h"

namespace fovea {

namespace {

constexpr size_t kMostLooks = 48;
constexpr int64_t kCandidates = 64;  // rows among which is chosen
constexpr size_t kGoodUnits = 64, kMostUnits = 1024;
constexpr size_t kMostViews = 16;  // above it heads are averaged
constexpr size_t kMostWatchedWeights = 65536, kMostLineBytes = size_t{1} << 20;
constexpr size_t kMostInputBytes = 4000;

/// What of a line says where it belongs.
struct LookPlace {
  int64_t epoch = 0, row = 0;
};

/// None of a line that was damaged.
std::optional<LookPlace> kept_place(const std::string& line) {
  try {
    const Json json = parse_json(line, "attention.jsonl");
    const Field root = Field::root(json, "attention.jsonl");
    return LookPlace{root.at("epoch").integer(0, INT64_MAX), root.at("row").integer(0, INT64_MAX)};
  } catch (const Error&) {
    return {};
  }
}

size_t longest_axis(const Example& example) {
  size_t longest = 0;
  for (const Axis& axis : example.axes) longest = std::max(longest, axis.labels.size());
  return longest;
}

int64_t smallest_gap(const std::vector<int64_t>& epochs) {
  int64_t gap = epochs.size() < 2 ? 1 : INT64_MAX;
  for (size_t i = 1; i < epochs.size(); ++i) gap = std::min(gap, epochs[i] - epochs[i - 1]);
  return gap;
}

/// Four digits: a picture shows no more.
double round_weight(double value) {
  if (!std::isfinite(value)) return value;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return std::strtod(text, nullptr);
}

/// The first maps that fit.
void keep_small(Explanation& explanation) {
  size_t weights = 0, kept = 0;
  for (MapView& map : explanation.maps) {
    weights += map.weights.size();
    if (weights > kMostWatchedWeights) break;
    std::ranges::transform(map.weights, map.weights.begin(), round_weight);
    ++kept;
  }
  if (kept < explanation.maps.size())
    explanation.notes.push_back(concat(explanation.maps.size() - kept, " of ",
                                       explanation.maps.size(),
                                       " maps are too large to be kept for each epoch"));
  explanation.maps.resize(kept);
}

}  // namespace

int64_t watched_rows(const RunFolder& folder) {
  std::set<int64_t> rows;
  for (const std::string& line : whole_lines(folder.attention()))
    if (const auto place = kept_place(line)) rows.insert(place->row);
  return int64_t(rows.size());
}

AttentionWatch::AttentionWatch(const Task& task, const Model& model,
                               std::shared_ptr<const Dataset> rows, int64_t count,
                               const RunFolder& folder,
                               std::function<void(const std::string&)> note)
    : task_(task), model_(model), rows_(std::move(rows)), folder_(folder), note_(std::move(note)) {
  pick(std::min(count, kMostWatched));
}

void AttentionWatch::give_up(const std::string& why) {
  picked_.clear();
  if (note_) note_(concat("no attention is kept epoch by epoch: ", why));
}

/// The first rows of few units; where there are none, the shortest.
void AttentionWatch::pick(int64_t count) {
  std::vector<std::pair<size_t, int64_t>> lengths;  // of an axis; the row
  for (int64_t row = 0; row < std::min(kCandidates, rows_->size()); ++row)
    if (const size_t length = longest_axis(rows_->example(row)); length <= kMostUnits)
      lengths.emplace_back(std::max(length, kGoodUnits), row);
  std::ranges::sort(lengths);
  for (size_t i = 0; i < std::min(size_t(count), lengths.size()); ++i)
    picked_.push_back(lengths[i].second);
  if (picked_.empty() && count > 0)
    give_up(concat("the rows have more than ", kMostUnits, " units"));
}

std::string AttentionWatch::line(int64_t row, int64_t epoch, int64_t step) const {
  Example example = rows_->example(row);
  const Json input = rows_->input(row);
  if (!input.is_null() && example.given.empty()) {
    const std::string text = input.is_string() ? input.get<std::string>() : input.dump();
    if (text.size() <= kMostInputBytes) example.given = text;
  }
  const BorrowedPredictor predictor(task_, model_);
  const Prediction prediction = predictor.predict({&example, 1}).front();
  ExplainOptions options = task_.explain_options();
  options.answer = [&](const Example& asked, const Prediction& given) {
    return task_.answer(asked, given);
  };
  options.heads = Heads::All;
  Explanation explanation = explain_prediction(predictor, example, prediction, options);
  if (explanation.maps.size() > kMostViews) {
    options.heads = Heads::Mean;
    explanation = explain_prediction(predictor, example, prediction, options);
  }
  keep_small(explanation);
  if (explanation.maps.empty()) return "";
  Json json{{"epoch", epoch}, {"step", step}, {"row", row}};
  json["explanation"] = explanation_to_json(explanation);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void AttentionWatch::look(int64_t epoch, int64_t step) {
  if (picked_.empty()) return;
  folder_.require_still_ours();
  if (epochs_.empty()) go_on();
  if (!epochs_.empty() && epoch < epochs_.back() + gap_) return;
  std::string added;
  try {
    for (const int64_t row : picked_) {
      const std::string text = line(row, epoch, step);
      require(!text.empty(), ErrorKind::Unsupported, "the model has no map that is small enough");
      require(text.size() <= kMostLineBytes, ErrorKind::Unsupported, "a line would be too large");
      added += text + "\n";
    }
  } catch (const Error& error) {  // no reason to end a training
    return give_up(error.what());
  }
  append_unsynced(folder_.attention(), added);
  epochs_.push_back(epoch);
  if (epochs_.size() > kMostLooks) drop_every_second();
}

/// What the file holds of a training that is resumed.
void AttentionWatch::go_on() {
  for (const std::string& line : whole_lines(folder_.attention()))
    if (const auto place = kept_place(line))
      if (epochs_.empty() || epochs_.back() != place->epoch) epochs_.push_back(place->epoch);
  gap_ = smallest_gap(epochs_);
}

void AttentionWatch::drop_every_second() {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < epochs_.size(); i += 2) kept.push_back(epochs_[i]);
  epochs_ = std::move(kept);
  gap_ = smallest_gap(epochs_);
  std::vector<std::string> lines;
  for (std::string& line : whole_lines(folder_.attention()))
    if (const auto place = kept_place(line); place && std::ranges::count(epochs_, place->epoch) > 0)
      lines.push_back(std::move(line));
  write_lines(folder_.attention(), lines);
}

}  // namespace fovea
