#include "fovea/tasks/tune.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/tasks/train.h"

namespace fovea {

namespace {

constexpr int64_t kBracket = 9, kKeptOf = 3;  // trials of a bracket; one of three goes on
constexpr double kShares[] = {kFirstShare, 1.0 / 3, 1};  // of a full training
constexpr int64_t kMostTrials = 1'000'000;
constexpr const char* kSearch = "search.json";  // what was asked for
constexpr const char* kBudget = "budget.json";  // of a full training, and what decides
constexpr const char* kBestRun = "best";
// Of the time of a search, for the training with the usual options: it is trained once more, as a
// run that stays.
constexpr double kShareOfUsual = 0.5;
constexpr size_t kFinalists = 3;        // the usual options among them
constexpr double kShareOfFinals = 0.3;  // of the time of a search, at most, for their other seeds

/// The folder of a search: what was asked for, and a line for each training that ended.
class TuneFolder {
 public:
  TuneFolder(const std::filesystem::path& path, const Json& asked)
      : path_(path), lines_(path / "trials.jsonl") {
    const std::filesystem::path file = path / kSearch;
    const bool has_results =
        std::filesystem::exists(lines_) || std::filesystem::exists(path / kBestRun);
    if (has_results && std::filesystem::exists(file)) {
      const Json before = read_json_file(file);
      require(before == asked, ErrorKind::InvalidArgument, file.string(),
              ": is of a search with other options, data or ranges; choose another --out");
    } else {
      require(!std::filesystem::exists(path) || std::filesystem::is_empty(path) ||
                  std::filesystem::exists(file),
              ErrorKind::InvalidArgument, path.string(),
              ": is neither empty nor of a search; choose another --out");
      made_ = make_folder(path);
    }
    lock_.emplace(path / ".lock", concat(path.string(), ": another search is writing here"));
    if (std::filesystem::exists(lines_))
      read_lines();
    else
      write_json_file(file, asked);  // in place of that of a search that came to no trial
  }
  /// A search without any result leaves nothing that the next one could stumble over.
  ~TuneFolder() {
    std::error_code ignored;
    if (!known_.empty() || std::filesystem::exists(path_ / kBestRun, ignored)) return;
    for (const char* name : {kSearch, kBudget}) std::filesystem::remove(path_ / name, ignored);
    lock_->remove();
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) ::rmdir(folder->c_str());
  }
  TuneFolder(const TuneFolder&) = delete;
  TuneFolder& operator=(const TuneFolder&) = delete;

  /// What is known of a training; none: it has not ended yet.
  const TuneTrial* find(int64_t number, double share, int64_t seed) const {
    const auto found = known_.find({number, std::lround(share * 1000), seed});
    return found == known_.end() ? nullptr : &found->second;
  }
  void add(const TuneTrial& trial, const std::string& data) {
    require(data_.empty() || data.empty() || data == data_, ErrorKind::BadData, path_.string(),
            ": the data changed since this search began; choose another --out");
    if (data_.empty()) data_ = data;
    Json line = trial.to_json();
    line["data"] = data;
    append_to_file(lines_, line.dump() + "\n");
    known_[{trial.number, std::lround(trial.share * 1000), trial.seed}] = trial;
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
      if (const auto seed = root.find("seed")) trial.seed = seed->integer(0, kMostTrials);
      root.at("options").each_member([&](const std::string& key, const Field& value) {
        trial.options.emplace_back(key, value.text());
      });
      if (const auto value = root.find("value")) trial.value = value->finite();
      if (const auto loss = root.find("loss")) trial.loss = loss->finite();
      trial.seconds = root.at("seconds").finite();
      trial.problem = root.text_or_empty("problem");
      if (data_.empty()) data_ = root.text_or_empty("data");
      known_[{trial.number, std::lround(trial.share * 1000), trial.seed}] = std::move(trial);
    }
    if (begin < content.size())  // a line that a killed search wrote half
      write_file(lines_, std::string_view(content).substr(0, begin));
  }

  std::filesystem::path path_, lines_;
  std::vector<std::filesystem::path> made_;
  std::optional<FileLock> lock_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, TuneTrial> known_;
  std::string data_;
};

/// Everything that makes one search: the same answers give the same search.
class Search {
 public:
  Search(const TuneRequest& request, TuneResult& result)
      : request_(request),
        result_(result),
        plain_(request.make_setup()),
        folder_(request.folder, asked()),
        begin_(std::chrono::steady_clock::now()) {}

  void run() {
    result_.task = plain_.task_name();
    const TuneTrial* usual = step(0, 1);
    if (!usual) return;
    require(usual->value.has_value(), ErrorKind::BadData,
            "tune: the training with the usual options failed: ", usual->problem);
    result_.usual = result_.best = 0;
    if (result_.fitted && request_.are_usual) return;
    search_trials();
    train_finalists();
  }

  /// Brackets of trials, each halved to its best.
  void search_trials() {
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

  /// The usual options and the best others from further seeds; the best mean wins.
  void train_finalists() {
    std::vector<TuneTrial> others;
    for (const TuneTrial& trial : result_.trials)
      if (trial.is_full() && trial.value && trial.number > 0) others.push_back(trial);
    if (result_.stopped || others.empty() || request_.seeds < 2) return;
    std::ranges::stable_sort(others, [&](const TuneTrial& one, const TuneTrial& other) {
      return result_.is_better(one, other);
    });
    std::vector<TuneTrial> finalists{result_.trials[result_.usual]};
    for (size_t i = 0; i < std::min(kFinalists - 1, others.size()); ++i)
      finalists.push_back(others[i]);
    for (const TuneTrial& trial : finalists)
      result_.finalists.push_back({trial.number, {*trial.value}});
    in_finals_ = true;
    const bool cut = std::exchange(result_.out_of_time, false);
    for (int64_t seed = 1; seed < request_.seeds && !is_over(); ++seed) {
      std::vector<double> values;  // of this seed
      for (const TuneTrial& trial : finalists)
        if (const TuneTrial* ended = step(trial.number, 1, seed))
          values.push_back(ended->value.value_or(std::nan("")));
      if (values.size() < finalists.size()) break;  // all have the same seeds, or none counts
      for (size_t i = 0; i < values.size(); ++i) result_.finalists[i].values.push_back(values[i]);
    }
    result_.out_of_time |= cut;
    // One that failed from any seed is none.
    std::erase_if(result_.finalists,
                  [](const TuneFinalist& one) { return !std::isfinite(one.mean()); });
    std::ranges::stable_sort(result_.finalists, [&](const auto& one, const auto& other) {
      return result_.higher_is_better ? one.mean() > other.mean() : one.mean() < other.mean();
    });
    const bool repeated = !result_.finalists.empty() && result_.finalists[0].values.size() > 1;
    if (!repeated) return result_.finalists.clear();
    const auto is_best = [&](const TuneTrial& trial) {
      return trial.number == result_.finalists[0].number && trial.is_full() && trial.seed == 0;
    };
    result_.best = size_t(std::ranges::find_if(result_.trials, is_best) - result_.trials.begin());
  }

  /// The best options once more, as a run that stays.
  void keep_best() {
    const TuneTrial usual;
    const TuneTrial& best = result_.trials.empty() ? usual : result_.trials[result_.best];
    const std::filesystem::path path = request_.folder / kBestRun;
    Setup setup = setup_for(best, 0);
    if (result_.trials.empty())  // no time for one training in full: one in what is left
      setup.set("training.seconds", format_number(std::max(0.1, request_.seconds - elapsed()), 4));
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
    return elapsed() + share * best + best + time_of_finals() <= request_.seconds;
  }
  /// That is kept free while trials are searched.
  double time_of_finals() const {
    if (in_finals_ || request_.seconds <= 0 || result_.trials.empty()) return 0;
    return std::min(
        double(kFinalists) * double(request_.seeds - 1) * result_.trials[result_.best].seconds,
        kShareOfFinals * request_.seconds);
  }

  Setup setup_for(const TuneTrial& trial, int64_t budget) const {
    Setup setup = request_.make_setup();
    for (const auto& [key, value] : trial.options) setup.set(key, value);
    if (budget > 0) setup.set(budget_key_, concat(budget));
    setup.common().seed += trial.seed;
    return setup;
  }

  /// The result of one training, known or new; none when the search is over.
  const TuneTrial* step(int64_t number, double share, int64_t seed = 0) {
    if (const TuneTrial* known = folder_.find(number, share, seed)) {
      if (number == 0 && seed == 0) read_budget();
      return note(*known, /*is_new=*/false);
    }
    if (request_.should_stop && request_.should_stop()) result_.stopped = true;
    if (!has_time(share)) result_.out_of_time = true;
    if (is_over()) return nullptr;
    TuneTrial trial;
    trial.number = number;
    trial.share = share;
    trial.seed = seed;
    const Random draws = draws_of_trial(uint64_t(plain_.common().seed), number);
    for (const Tunable& tunable : request_.tunables)
      if (number > 0) trial.options.emplace_back(tunable.key, drawn_value(plain_, tunable, draws));
    std::string data;
    if (!train_trial(trial, data)) return nullptr;
    folder_.add(trial, data);
    return note(*folder_.find(number, share, seed), /*is_new=*/true);
  }

  /// False when it was stopped on the way.
  bool train_trial(TuneTrial& trial, std::string& data) {
    const auto begin = std::chrono::steady_clock::now();
    const double until =
        request_.seconds == 0 ? std::numeric_limits<double>::infinity()
        : result_.trials.empty()
            ? kShareOfUsual * request_.seconds
            : request_.seconds - result_.trials[result_.best].seconds - time_of_finals();
    TrainRequest training;
    training.split_seed = plain_.common().seed;
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
      const bool is_first = trial.number == 0 && trial.seed == 0;
      if (is_first) learn_budget(setup, trained.fitted);
      data = trained.splits.hash;
    } catch (const Error& error) {
      if (is_over()) return false;        // while the model was chosen
      if (result_.trials.empty()) throw;  // the usual options
      trial.problem = error.what();       // options that do not fit each other, or no memory
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
  void learn_budget(const Setup& setup, bool fitted) {
    result_.fitted = fitted;
    for (const char* key : {"training.steps", "training.epochs"})
      if (const double value = number_of_option(setup, key); value > 0) {
        budget_key_ = key;
        full_budget_ = value;
        break;
      }
    write_json_file(request_.folder / kBudget, {{"key", budget_key_},
                                                {"full", full_budget_},
                                                {"fitted", fitted},
                                                {"metric", result_.metric},
                                                {"higher_is_better", result_.higher_is_better}});
  }

  const TuneTrial* note(const TuneTrial& trial, bool is_new) {
    result_.trials.push_back(trial);
    const size_t last = result_.trials.size() - 1;
    if (trial.is_full() && trial.seed == 0 && trial.value &&
        result_.is_better(trial, result_.trials[result_.best]))
      result_.best = last;
    if (request_.trial_ended) request_.trial_ended(trial, is_new);
    return folder_.find(trial.number, trial.share, trial.seed);
  }

  void read_budget() {
    const std::filesystem::path file = request_.folder / kBudget;
    const Json json = read_json_file(file);
    const Field root = Field::root(json, file.string());
    budget_key_ = root.at("key").text();
    full_budget_ = root.at("full").finite();
    if (const auto fitted = root.find("fitted")) result_.fitted = fitted->mark();
    remember_metric(root.at("metric").text(), root.at("higher_is_better").mark());
  }

  const TuneRequest& request_;
  TuneResult& result_;
  Setup plain_;
  TuneFolder folder_;
  std::chrono::steady_clock::time_point begin_;
  std::string budget_key_ = "training.epochs";
  double full_budget_ = 1;
  bool in_finals_ = false;
};

}  // namespace

TuneResult tune(const TuneRequest& request) {
  TuneResult result;
  Setup setup = request.make_setup();
  for (const Tunable& tunable : request.tunables) setup.options().find(tunable.key);
  Search search(request, result);
  search.run();
  result.importance = measure_importance(result, request.tunables, uint64_t(setup.common().seed));
  if (result.stopped) return result;
  search.keep_best();
  return result;
}

}  // namespace fovea
