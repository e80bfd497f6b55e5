#include "fovea/tasks/tune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/tasks/train.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kBracket = 9, kKeptOf = 3;         // trials of a bracket; one of three goes on
constexpr double kShares[] = {1.0 / 9, 1.0 / 3, 1};  // of a full training
constexpr size_t kFewestForImportance = 5;
constexpr int64_t kMostTrials = 1'000'000;
constexpr const char* kBudget = "budget.json";  // of a full training, and what decides

double number_of_option(const Setup& setup, const std::string& key) {
  for (const Option& option : setup.options().options())
    if (option.key() == key && option.value().is_number()) return option.value().get<double>();
  return 0;
}

std::string type_of_option(const Setup& setup, const std::string& key) {
  for (const Option& option : setup.options().options())
    if (option.key() == key) return option.type();
  return "";
}

/// Where in its range a trial lies: 0 … 1 of numbers, the place in the list of texts.
double place_of(const Tunable& tunable, const Random& random) {
  const double drawn = random.split(tunable.key).uniform(0);
  if (tunable.values.empty()) return drawn;
  return std::floor(drawn * double(tunable.values.size()));
}

std::string value_at(const Tunable& tunable, double place, bool is_integer) {
  if (!tunable.values.empty()) return tunable.values[size_t(place)];
  const bool by_log = tunable.scale == Tunable::Scale::Log;
  const double value = by_log ? tunable.low * std::pow(tunable.high / tunable.low, place)
                              : tunable.low + place * (tunable.high - tunable.low);
  if (!is_integer) return format_number(value, 3);
  // Widths are cut into heads, and kernels like whole vectors.
  const double unit = tunable.high >= 32 ? 8 : 1;
  return concat(int64_t(std::max(unit, std::round(value / unit) * unit)));
}

Json trial_json(const TuneTrial& trial, const std::string& data) {
  Json json{{"trial", trial.number}, {"share", trial.share}, {"options", Json::object()}};
  for (const auto& [key, value] : trial.options) json["options"][key] = value;
  json["value"] = trial.value ? Json(*trial.value) : Json();
  json["loss"] = std::isfinite(trial.loss) ? Json(trial.loss) : Json();
  json["seconds"] = trial.seconds;
  json["data"] = data;
  if (!trial.problem.empty()) json["problem"] = trial.problem;
  return json;
}

/// The folder of a search: what was asked for, and a line for each training that ended.
class TuneFolder {
 public:
  TuneFolder(const std::filesystem::path& path, const Json& asked)
      : path_(path), lines_(path / "trials.jsonl") {
    const std::filesystem::path file = path / "search.json";
    if (std::filesystem::exists(file)) {
      const Json before = read_json_file(file);
      require(before == asked, ErrorKind::InvalidArgument, file.string(),
              ": is of a search with other options, data or ranges; choose another --out");
    } else {
      require(!std::filesystem::exists(path) || std::filesystem::is_empty(path),
              ErrorKind::InvalidArgument, path.string(),
              ": is neither empty nor of a search; choose another --out");
      make_folder(path);
    }
    lock_.emplace(path / ".lock", concat(path.string(), ": another search is writing here"));
    if (!std::filesystem::exists(file)) write_json_file(file, asked);
    if (std::filesystem::exists(lines_)) read_lines();
  }

  /// What is known of a training; none: it has not ended yet.
  const TuneTrial* find(int64_t number, double share) const {
    const auto found = known_.find({number, std::lround(share * 1000)});
    return found == known_.end() ? nullptr : &found->second;
  }
  void add(const TuneTrial& trial, const std::string& data) {
    require(data_.empty() || data.empty() || data == data_, ErrorKind::BadData, path_.string(),
            ": the data changed since this search began; choose another --out");
    if (data_.empty()) data_ = data;
    append_to_file(lines_, trial_json(trial, data).dump() + "\n");
    known_[{trial.number, std::lround(trial.share * 1000)}] = trial;
  }

 private:
  void read_lines() {
    const std::string content = read_file(lines_);
    size_t begin = 0;
    int64_t number = 0;
    for (size_t end; (end = content.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string place = concat(lines_.string(), ":", ++number);
      const Json json = parse_json(std::string_view(content).substr(begin, end - begin), place);
      const Field root = Field::root(json, place);
      TuneTrial trial;
      trial.number = root.at("trial").integer(0, kMostTrials);
      trial.share = root.at("share").finite();
      root.at("options").each_member([&](const std::string& key, const Field& value) {
        trial.options.emplace_back(key, value.text());
      });
      if (const auto value = root.find("value")) trial.value = value->finite();
      if (const auto loss = root.find("loss")) trial.loss = loss->finite();
      trial.seconds = root.at("seconds").finite();
      trial.problem = root.text_or_empty("problem");
      if (data_.empty()) data_ = root.text_or_empty("data");
      known_[{trial.number, std::lround(trial.share * 1000)}] = std::move(trial);
    }
    if (begin < content.size())  // a line that a killed search wrote half
      write_file(lines_, std::string_view(content).substr(0, begin));
  }

  std::filesystem::path path_, lines_;
  std::optional<FileLock> lock_;
  std::map<std::pair<int64_t, int64_t>, TuneTrial> known_;
  std::string data_;
};

/// Everything that makes one search: the same answers give the same search.
class Search {
 public:
  Search(const TuneRequest& request, TuneResult& result)
      : request_(request),
        result_(result),
        plain_(request.make_setup()),
        random_(Random(uint64_t(plain_.common().seed)).split("tune")),
        folder_(request.folder, asked()),
        begin_(std::chrono::steady_clock::now()) {}

  void run() {
    result_.task = plain_.task_name();
    const TuneTrial* usual = step(0, 1);
    if (!usual) return;
    require(usual->value.has_value(), ErrorKind::BadData,
            "tune: the training with the usual options failed: ", usual->problem);
    result_.usual = result_.best = 0;
    for (int64_t first = 1; first <= request_.trials && !is_over(); first += kBracket) {
      std::vector<int64_t> alive;
      for (int64_t i = first; i < std::min(first + kBracket, request_.trials + 1); ++i)
        alive.push_back(i);
      for (const double share : kShares) {
        std::vector<TuneTrial> ended;
        for (const int64_t number : alive) {
          const TuneTrial* trial = step(number, share);
          if (!trial) return;
          ended.push_back(*trial);
        }
        std::erase_if(ended, [](const TuneTrial& trial) { return !trial.value; });
        std::ranges::stable_sort(ended, [&](const TuneTrial& one, const TuneTrial& other) {
          return result_.is_better(one, other);
        });
        if (ended.size() > 1) ended.resize((ended.size() + kKeptOf - 1) / kKeptOf);
        alive.clear();
        for (const TuneTrial& trial : ended) alive.push_back(trial.number);
      }
    }
  }

  /// The best options once more, as a run that stays.
  void keep_best() {
    const TuneTrial& best = result_.trials[result_.best];
    const std::filesystem::path path = request_.folder / "best";
    Setup setup = setup_for(best, 0);
    RunFolder run(path);
    TrainRequest training;
    training.folder = &run;
    training.overwrite = std::filesystem::exists(path);
    training.hooks.should_stop = request_.should_stop;
    const Training trained = train(setup, training);
    if (trained.result.stopped) {
      result_.stopped = true;
      return;
    }
    result_.run = path;
    result_.validation = trained.evaluation;
    if (trained.splits.test)
      result_.test = setup.task().evaluate(*trained.model, *trained.splits.test, trained.baselines);
  }

 private:
  Json asked() const {
    Json json{{"format", "fovea-search"},
              {"version", 1},
              {"options", plain_.to_config()},
              {"varied", Json::array()}};
    json["options"].erase("threads");
    for (const Tunable& one : request_.tunables) {
      Json varied{{"key", one.key}};
      if (one.values.empty())
        varied.update(
            {{"low", one.low}, {"high", one.high}, {"log", one.scale == Tunable::Scale::Log}});
      else
        varied["values"] = one.values;
      json["varied"].push_back(std::move(varied));
    }
    return json;
  }

  bool is_over() const { return result_.stopped || result_.out_of_time; }
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  /// Whether there is time for a share of a training, and for the best one once more.
  bool has_time(double share) const {
    if (request_.seconds <= 0 || result_.trials.empty()) return true;
    const double best = result_.trials[result_.best].seconds;
    return elapsed() + share * best + best <= request_.seconds;
  }

  Setup setup_for(const TuneTrial& trial, int64_t budget) const {
    Setup setup = request_.make_setup();
    for (const auto& [key, value] : trial.options) setup.set(key, value);
    if (budget > 0) setup.set(budget_key_, concat(budget));
    return setup;
  }

  /// The result of one training, known or new; none when the search is over.
  const TuneTrial* step(int64_t number, double share) {
    if (const TuneTrial* known = folder_.find(number, share)) {
      if (number == 0) read_budget();
      return note(*known, /*is_new=*/false);
    }
    if (request_.should_stop && request_.should_stop()) result_.stopped = true;
    if (!has_time(share)) result_.out_of_time = true;
    if (is_over()) return nullptr;
    TuneTrial trial;
    trial.number = number;
    trial.share = share;
    const Random random = random_.split(uint64_t(number));
    for (const Tunable& tunable : request_.tunables)
      if (number > 0)
        trial.options.emplace_back(tunable.key,
                                   value_at(tunable, place_of(tunable, random),
                                            type_of_option(plain_, tunable.key) == "integer"));
    std::string data;
    if (!train_trial(trial, data)) return nullptr;
    folder_.add(trial, data);
    return note(*folder_.find(number, share), /*is_new=*/true);
  }

  /// False when it was stopped on the way.
  bool train_trial(TuneTrial& trial, std::string& data) {
    const auto begin = std::chrono::steady_clock::now();
    const double until = request_.seconds > 0 && !result_.trials.empty()
                             ? request_.seconds - result_.trials[result_.best].seconds
                             : std::numeric_limits<double>::infinity();
    TrainRequest training;
    training.hooks.should_stop = [&] {
      if (request_.should_stop && request_.should_stop()) result_.stopped = true;
      if (elapsed() > until) result_.out_of_time = true;
      return is_over();
    };
    try {
      const int64_t budget =
          trial.is_full() ? 0 : std::max<int64_t>(1, std::llround(full_budget_ * trial.share));
      Setup setup = setup_for(trial, budget);
      const Training trained = train(setup, training);
      if (trained.result.stopped) return false;
      require(trained.splits.validation != nullptr, ErrorKind::BadData,
              "tune: the data has no validation rows to decide by");
      judge(setup, trained, trial);
      if (trial.number == 0) learn_budget(setup);
      data = trained.splits.hash;
    } catch (const Error& error) {
      if (trial.number == 0) throw;
      trial.problem = error.what();  // options that do not fit each other, or no memory
    }
    trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return true;
  }

  void judge(const Setup& setup, const Training& trained, TuneTrial& trial) {
    const Evaluation evaluation =
        setup.task().evaluate(*trained.model, *trained.splits.validation, {});
    const Metric* metric = evaluation.find(evaluation.main);
    require(metric != nullptr, ErrorKind::BadData, "tune: this task has no metric to decide by");
    trial.problem = std::isfinite(metric->value) ? "" : "the training diverged";
    if (std::isfinite(metric->value)) trial.value = metric->value;
    if (!trained.validation.empty()) trial.loss = trained.validation[0].value;
    remember_metric(evaluation.main, metric->higher_is_better);
  }

  void remember_metric(const std::string& name, bool higher_is_better) {
    result_.metric = name;
    result_.higher_is_better = higher_is_better;
  }

  /// How long a full training is, in the unit that the setup counts in.
  void learn_budget(const Setup& setup) {
    for (const char* key : {"training.steps", "training.epochs"})
      if (const double value = number_of_option(setup, key); value > 0) {
        budget_key_ = key;
        full_budget_ = value;
        break;
      }
    write_json_file(request_.folder / kBudget, {{"key", budget_key_},
                                                {"full", full_budget_},
                                                {"metric", result_.metric},
                                                {"higher_is_better", result_.higher_is_better}});
  }

  const TuneTrial* note(const TuneTrial& trial, bool is_new) {
    result_.trials.push_back(trial);
    const size_t last = result_.trials.size() - 1;
    if (trial.is_full() && trial.value && result_.is_better(trial, result_.trials[result_.best]))
      result_.best = last;
    if (request_.trial_ended) request_.trial_ended(trial, is_new);
    return folder_.find(trial.number, trial.share);
  }

  void read_budget() {
    const std::filesystem::path file = request_.folder / kBudget;
    const Json json = read_json_file(file);
    const Field root = Field::root(json, file.string());
    budget_key_ = root.at("key").text();
    full_budget_ = root.at("full").finite();
    remember_metric(root.at("metric").text(), root.at("higher_is_better").mark());
  }

  const TuneRequest& request_;
  TuneResult& result_;
  Setup plain_;
  Random random_;
  TuneFolder folder_;
  std::chrono::steady_clock::time_point begin_;
  std::string budget_key_ = "training.epochs";
  double full_budget_ = 1;
};

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

/// The share of the order of the first, short trainings that each option explains: an additive
/// ridge regression on ranks, and the variance of what it says of each option.
std::vector<OptionImportance> measure_importance(const TuneResult& result,
                                                 const TuneRequest& request, int64_t seed) {
  std::vector<const TuneTrial*> trials;
  for (const TuneTrial& trial : result.trials)
    if (trial.number > 0 && trial.share == kShares[0] && trial.value) trials.push_back(&trial);
  if (trials.size() < kFewestForImportance || request.tunables.empty()) return {};
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return result.is_better(*trials[b], *trials[a]); });
  at::Tensor rank = torch::zeros({int64_t(trials.size())}, at::kDouble);  // [N]
  for (size_t i = 0; i < order.size(); ++i) rank[int64_t(order[i])] = double(i);
  rank = (rank - rank.mean()) / rank.std();
  const Random random = Random(uint64_t(seed)).split("tune");
  std::vector<at::Tensor> groups;
  for (const Tunable& tunable : request.tunables) {
    std::vector<double> places;
    for (const TuneTrial* trial : trials)
      places.push_back(place_of(tunable, random.split(uint64_t(trial->number))));
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
        {request.tunables[i].key,
         std::min(
             1.0,
             groups[i].matmul(weights.narrow(0, first, groups[i].size(1))).var().item<double>())});
  std::ranges::stable_sort(importance, std::greater(), &OptionImportance::share);
  return importance;
}

std::string options_text(const TuneTrial& trial) {
  if (trial.number == 0) return "usual options";
  std::vector<std::string> parts;
  for (const auto& [key, value] : trial.options) parts.push_back(key + "=" + value);
  return join(parts, " ");
}

}  // namespace

std::vector<Tunable> usual_tunables(const Setup& setup) {
  std::vector<Tunable> found = setup.task().tunables();
  const auto around = [&](const char* key, double less, double more) {
    if (const double usual = number_of_option(setup, key); usual > 0)
      found.push_back({key, usual * less, usual * more, Tunable::Scale::Log});
  };
  around("training.learning_rate", 0.1, 5);
  if (type_of_option(setup, "training.weight_decay") == "number")
    found.push_back({"training.weight_decay", 1e-6, 0.1, Tunable::Scale::Log});
  if (type_of_option(setup, "model.dropout") == "number")
    found.push_back({"model.dropout", 0, 0.5});
  const std::string width = type_of_option(setup, "model.hidden");
  if (width == "integer") around("model.hidden", 0.5, 2);
  if (width == "list of integers")
    found.push_back({"model.hidden", 0, 0, {}, {"32", "64", "128", "256", "64,64", "128,128"}});
  return found;
}

Tunable parse_tunable(const std::string& text) {
  const auto [key, value] = split_assignment(text);
  const size_t dots = value.find("..");
  Tunable tunable{key};
  if (dots == std::string::npos) {
    int depth = 0;  // commas in brackets belong to one value
    tunable.values.emplace_back();
    for (const char letter : value) {
      depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
      if (letter == ',' && depth == 0)
        tunable.values.emplace_back();
      else
        tunable.values.back() += letter;
    }
    require(tunable.values.size() > 1, ErrorKind::InvalidArgument, "--vary ", text,
            ": expected several values, key=a,b,c, or a range, key=low..high");
    return tunable;
  }
  const bool are_numbers = parse_number(value.substr(0, dots), tunable.low) &&
                           parse_number(value.substr(dots + 2), tunable.high);
  require(are_numbers && tunable.low < tunable.high, ErrorKind::InvalidArgument, "--vary ", text,
          ": expected a range such as 0.001..0.1");
  if (tunable.low > 0 && tunable.high >= 10 * tunable.low) tunable.scale = Tunable::Scale::Log;
  return tunable;
}

bool TuneResult::is_better(const TuneTrial& one, const TuneTrial& other) const {
  if (one.value.has_value() != other.value.has_value()) return one.value.has_value();
  if (!one.value) return false;
  if (*one.value != *other.value) return (*one.value > *other.value) == higher_is_better;
  return one.loss < other.loss;
}

TuneResult tune(const TuneRequest& request) {
  TuneResult result;
  Setup setup = request.make_setup();
  for (const Tunable& tunable : request.tunables) setup.options().find(tunable.key);
  Search search(request, result);
  search.run();
  result.importance = measure_importance(result, request, setup.common().seed);
  if (result.stopped || result.trials.empty()) return result;
  search.keep_best();
  return result;
}

TextTable TuneResult::table(size_t most) const {
  std::vector<size_t> full;
  for (size_t i = 0; i < trials.size(); ++i)
    if (trials[i].is_full() && trials[i].value) full.push_back(i);
  std::ranges::stable_sort(full,
                           [&](size_t a, size_t b) { return is_better(trials[a], trials[b]); });
  TextTable table({"trial", metric, "seconds", "options"});
  for (size_t i = 0; i < full.size(); ++i) {
    if (i >= most && full[i] != usual) continue;  // the usual options always stand there
    const TuneTrial& trial = trials[full[i]];
    table.add({concat(trial.number), format_number(*trial.value, 5),
               format_number(trial.seconds, 3), options_text(trial)});
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
      trials, [](const TuneTrial& trial) { return trial.share == kShares[0]; });
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
    json["trials"].push_back(trial_json(trial, ""));
    json["trials"].back().erase("data");
  }
  for (const OptionImportance& one : importance) json["importance"][one.key] = one.share;
  if (trials.empty()) return json;
  json["best"] = trials[best].number;
  json["usual_value"] = trials[usual].value ? Json(*trials[usual].value) : Json();
  json["best_value"] = trials[best].value ? Json(*trials[best].value) : Json();
  if (!run.empty()) json["run"] = run.string();
  if (!validation.metrics.empty()) json["validation"] = validation.to_json();
  if (test) json["test"] = test->to_json();
  return json;
}

}  // namespace fovea
