#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/metrics/statistics.h"
#include "fovea/tasks/tune.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr size_t kFewestForImportance = 5;

/// Columns of an additive model for one option: a parabola over a range, a mark for each text.
at::Tensor columns_of(const Tunable& tunable, const std::vector<double>& places) {
  const at::Tensor place = torch::tensor(places, at::kDouble);  // [N]
  at::Tensor columns;
  if (tunable.values.empty())
    columns = torch::stack({place, place.square()}, 1);  // [N, 2]
  else
    columns = at::one_hot(place.to(at::kLong), int64_t(tunable.values.size())).to(at::kDouble);
  columns = columns - columns.mean(0);
  return columns / columns.std(0).clamp_min(1e-9);  // [N, K]
}

std::string options_text(const TuneTrial& trial) {
  if (trial.number == 0) return "usual options";
  std::vector<std::string> parts;
  for (const auto& [key, value] : trial.options) parts.push_back(key + "=" + value);
  return join(parts, " ");
}

}  // namespace

double TuneFinalist::mean() const {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / double(values.size());
}

double TuneFinalist::deviation() const {
  return summarize(values).deviation.value_or(0);
}

std::string TuneFinalist::text() const {
  return concat(format_number(mean(), 4), " ± ", format_number(deviation(), 2));
}

Json TuneTrial::to_json() const {
  Json json{{"trial", number}, {"share", share}, {"seed", seed}, {"options", Json::object()}};
  for (const auto& [key, chosen] : options) json["options"][key] = chosen;
  json["value"] = value ? Json(*value) : Json();
  json["loss"] = std::isfinite(loss) ? Json(loss) : Json();
  json["seconds"] = seconds;
  if (!problem.empty()) json["problem"] = problem;
  return json;
}

bool TuneResult::is_better(const TuneTrial& one, const TuneTrial& other) const {
  if (one.value.has_value() != other.value.has_value()) return one.value.has_value();
  if (!one.value) return false;
  if (*one.value != *other.value) return (*one.value > *other.value) == higher_is_better;
  return one.loss < other.loss;
}

const TuneFinalist* TuneResult::finalist(int64_t number) const {
  const auto found = std::ranges::find(finalists, number, &TuneFinalist::number);
  return found == finalists.end() ? nullptr : &*found;
}

std::string TuneResult::value_text(const TuneTrial& trial) const {
  const TuneFinalist* own = finalist(trial.number);
  return own ? own->text() : format_number(*trial.value, 4);
}

std::vector<OptionImportance> measure_importance(const TuneResult& result,
                                                 const std::vector<Tunable>& tunables,
                                                 uint64_t seed) {
  std::vector<const TuneTrial*> trials;
  for (const TuneTrial& trial : result.trials)
    if (trial.number > 0 && trial.share == kFirstShare && trial.value) trials.push_back(&trial);
  if (trials.size() < kFewestForImportance || tunables.empty()) return {};
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return result.is_better(*trials[b], *trials[a]); });
  at::Tensor rank = torch::zeros({int64_t(trials.size())}, at::kDouble);  // [N]
  for (size_t i = 0; i < order.size(); ++i) rank[int64_t(order[i])] = double(i);
  rank = (rank - rank.mean()) / rank.std();
  std::vector<at::Tensor> groups;
  for (const Tunable& tunable : tunables) {
    std::vector<double> places;
    for (const TuneTrial* trial : trials)
      places.push_back(drawn_place(tunable, draws_of_trial(seed, trial->number)));
    groups.push_back(columns_of(tunable, places));
  }
  const at::Tensor all = torch::cat(groups, 1);  // [N, K]
  const at::Tensor squares =
      all.t().matmul(all) + double(trials.size()) / 4 * torch::eye(all.size(1), at::kDouble);
  const at::Tensor weights = at::linalg_solve(squares, all.t().matmul(rank));  // [K]
  std::vector<OptionImportance> importance;
  int64_t first = 0;
  for (size_t i = 0; i < groups.size(); first += groups[i++].size(1))
    importance.push_back(
        {tunables[i].key,
         std::min(
             1.0,
             groups[i].matmul(weights.narrow(0, first, groups[i].size(1))).var().item<double>())});
  std::ranges::stable_sort(importance, std::greater(), &OptionImportance::share);
  return importance;
}

TextTable TuneResult::table(size_t most) const {
  std::vector<size_t> full;
  for (size_t i = 0; i < trials.size(); ++i)
    if (trials[i].is_full() && trials[i].seed == 0 && trials[i].value) full.push_back(i);
  const auto place = [&](size_t i) {  // among the finalists, or behind them
    return std::ranges::find(finalists, trials[i].number, &TuneFinalist::number) -
           finalists.begin();
  };
  std::ranges::stable_sort(full, [&](size_t a, size_t b) {
    return place(a) != place(b) ? place(a) < place(b) : is_better(trials[a], trials[b]);
  });
  std::vector<std::string> header{"trial", metric, "seconds", "options"};
  if (!finalists.empty()) header = {"trial", metric, "deviation", "seeds", "seconds", "options"};
  TextTable table(header);
  for (size_t i = 0; i < full.size(); ++i) {
    if (i >= most && full[i] != usual) continue;  // the usual options always stand there
    const TuneTrial& trial = trials[full[i]];
    const TuneFinalist* own = finalist(trial.number);
    std::vector<std::string> row{concat(trial.number),
                                 format_number(own ? own->mean() : *trial.value, 5)};
    if (!finalists.empty()) {
      row.push_back(own ? format_number(own->deviation(), 2) : "");
      row.push_back(concat(own ? own->values.size() : 1));
    }
    row.insert(row.end(), {format_number(trial.seconds, 3), options_text(trial)});
    table.add(std::move(row));
  }
  return table;
}

Explanation TuneResult::picture() const {
  MapView map;
  map.name = "importance";
  map.title = "Which option mattered";
  map.kind = MapKind::Free;
  map.key_axis = "options";
  map.query_labels = {metric};
  for (const OptionImportance& one : importance) {
    map.key_labels.push_back(one.key);
    map.weights.push_back(one.share);
  }
  const auto short_ones = std::ranges::count_if(
      trials, [](const TuneTrial& trial) { return trial.share == kFirstShare; });
  return {task,
          "Which option mattered for " + metric,
          concat("share of the order of ", short_ones, " short trainings that each explains"),
          {map},
          {},
          "",
          nullptr,
          {Axis{"options", "option", map.key_labels}}};
}

Json TuneResult::to_json() const {
  Json json{{"format", "fovea-tune"},
            {"version", 1},
            {"task", task},
            {"metric", metric},
            {"higher_is_better", higher_is_better},
            {"stopped", stopped},
            {"out_of_time", out_of_time},
            {"trials", Json::array()},
            {"importance", Json::object()}};
  for (const TuneTrial& trial : trials) {
    json["trials"].push_back(trial.to_json());
  }
  for (const OptionImportance& one : importance) json["importance"][one.key] = one.share;
  for (const TuneFinalist& one : finalists)
    json["finalists"].push_back({{"trial", one.number},
                                 {"mean", one.mean()},
                                 {"deviation", one.deviation()},
                                 {"values", one.values}});
  if (!trials.empty()) {
    json["best"] = trials[best].number;
    json["usual_value"] = trials[usual].value ? Json(*trials[usual].value) : Json();
    json["best_value"] = trials[best].value ? Json(*trials[best].value) : Json();
  }
  if (!run.empty()) json["run"] = run.string();
  if (!validation.metrics.empty()) json["validation"] = validation.to_json();
  if (test) json["test"] = test->to_json();
  return json;
}

}  // namespace fovea
