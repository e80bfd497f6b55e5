#include "fovea/tasks/choose_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/row_subset.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/trainer.h"

namespace fovea {

namespace {

constexpr int64_t kSmallTable = 3000;  // fewer rows are cut several times
constexpr int64_t kChoiceRepeats = 5;
constexpr int64_t kFirstTrainingRows = 6000, kMostTrainingRows = 24'000;  // of a candidate
constexpr int64_t kMostHeldOutRows = 4000;
constexpr int64_t kChoiceBlocks = 10;  // of held-out rows, to know how far the loss varies
constexpr int64_t kFewestOfBlock = 16;
// A candidate need not be trained to its very best.
constexpr int64_t kMostPatience = 6, kMostSteps = 1500;
constexpr int64_t kMostStepsOfSeveral = 600;  // where several repeats or more rows are to follow
constexpr int64_t kFewestSteps = 300;         // however much they cost
constexpr double kMostCost = 8;               // of a step: whoever costs more does not take part
constexpr size_t kFewestBlocks = 4;           // that show how far differences vary
constexpr double kBehind = 3;                 // standard errors
constexpr double kFewestSeconds = 0.3;        // of a candidate's training, where the time is given

/// Rows of one repeat: those to train on, and those to measure on in blocks.
struct HeldOut {
  std::vector<int64_t> training;
  std::vector<std::vector<int64_t>> blocks;
  bool larger = false;  // with more rows than before: what was measured with fewer does not count
  bool is_last = true;  // of one cut: nothing follows
};

/// A small table is cut several times. A large one is cut once, and who is still in the race then
/// is trained on more of it: what is best for a few thousand rows need not be best for all.
std::vector<HeldOut> hold_out_repeatedly(int64_t rows, uint64_t seed) {
  const int64_t repeats = rows < kSmallTable ? kChoiceRepeats : 1;
  const int64_t held = std::min(rows / 5, kMostHeldOutRows);
  const std::vector<int64_t> order = Random(seed).split("choice").permutation(rows);
  std::vector<HeldOut> all;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    std::vector<int64_t> rotated = order;  // each repeat holds out other rows
    std::rotate(rotated.begin(), rotated.begin() + repeat * held, rotated.end());
    HeldOut& own = all.emplace_back();
    const int64_t blocks = std::clamp<int64_t>(held / kFewestOfBlock, 1, kChoiceBlocks);
    for (int64_t block = 0; block < blocks; ++block)
      own.blocks.emplace_back(rotated.begin() + held * block / blocks,
                              rotated.begin() + held * (block + 1) / blocks);
    own.training.assign(rotated.begin() + held,
                        rotated.begin() + std::min(rows, held + kFirstTrainingRows));
  }
  if (repeats > 1)
    for (HeldOut& own : all) own.is_last = false;
  if (rows - held < 2 * kFirstTrainingRows) return all;
  HeldOut larger = all[0];
  all[0].is_last = false;
  larger.larger = true;
  larger.training.assign(order.begin() + held,
                         order.begin() + std::min(rows, held + kMostTrainingRows));
  all.push_back(std::move(larger));
  return all;
}

/// Repeats train on much the same rows, so that their losses vary less than those of other rows
/// would: their variance is too small by 1 + repeats * held out / trained on (Nadeau and Bengio
/// 2003).
double overlap_factor(const std::vector<HeldOut>& repeats) {
  if (repeats.size() == 1 || repeats.back().larger) return 1;
  double held = 0;
  for (const auto& block : repeats[0].blocks) held += double(block.size());
  const double factor =
      std::sqrt(1 + double(repeats.size()) * held / double(repeats[0].training.size()));
  // Five losses of a few rows each do not tell their own deviation well.
  return held < double(kFewestOfBlock) ? 2 * factor : factor;
}

double loss_in(const Metrics& metrics) {
  const Metric* loss = find_metric(metrics, "loss");
  require(loss != nullptr, ErrorKind::Internal, "a task whose model is chosen measures the loss");
  return loss->value;
}

/// How a candidate is trained; `is_last`: on the rows that nothing follows.
TrainingOptions candidate_training(const Setup& setup, bool is_last) {
  TrainingOptions options = setup.training();
  if (options.patience > 0) options.patience = std::min(options.patience, kMostPatience);
  if (options.epochs == 0 && options.steps == 0) {
    const auto usual = double(is_last ? kMostSteps : kMostStepsOfSeveral);
    options.steps = std::max(kFewestSteps, int64_t(usual / setup.task().cost()));
  }
  return options;
}

Trainer trainer_of(const Setup& setup, Model& model, const TrainingOptions& options) {
  return {model, options, static_cast<uint64_t>(setup.common().seed)};
}

/// The loss of the setup's model on every block, after training on the other rows; the hooks are
/// told of a stage with that title.
std::vector<double> block_losses(const Setup& setup, const Splits& splits, const HeldOut& rows,
                                 double most_seconds, const std::string& title,
                                 const ChooseHooks& hooks) {
  const Task& task = setup.task();
  const auto model = fresh_model(setup);
  const RowSubset training(splits.train, rows.training);
  const auto measure_blocks = [&] {
    std::vector<double> losses;
    for (const auto& block : rows.blocks)
      losses.push_back(loss_in(task.measure(*model, RowSubset(splits.train, block))));
    return losses;
  };
  if (!setup.has_budget() &&
      task.fit(*model, training, progress_of(hooks.progress, {title, "fits"})))
    return measure_blocks();
  TrainerHooks own;
  own.should_stop = hooks.should_stop;
  std::shared_ptr<const Dataset> validation;
  if (splits.validation) validation = sample_rows(splits.validation, kMostHeldOutRows);
  if (validation) own.evaluate = [&] { return task.measure(*model, *validation); };
  TrainingOptions options = candidate_training(setup, rows.is_last);
  options.seconds = most_seconds;
  Trainer trainer = trainer_of(setup, *model, options);
  own.progress = training_progress(hooks.progress, {title, "rows", most_seconds},
                                   planned_rows(trainer.plan(training), training.size()));
  trainer.train(training, own);
  return measure_blocks();
}

/// Options of the model and the training that are not the usual ones, so that they hold for every
/// candidate, however they were set.
Json changed_options(const Setup& setup) {
  const Json usual = Setup(setup.task_name()).to_config(), own = setup.to_config();
  Json changed = Json::object();
  for (const char* group : {"model", "training"})
    for (const auto& [key, value] : own[group].items())
      if (key != "name" && usual[group].value(key, Json()) != value) changed[group][key] = value;
  return changed;
}

struct MeanAndError {
  double mean = 0, standard_error = 0;
};

MeanAndError mean_and_error(const std::vector<double>& numbers) {
  const auto count = double(numbers.size());
  MeanAndError result{std::accumulate(numbers.begin(), numbers.end(), 0.0) / count};
  double squares = 0;
  for (const double number : numbers) squares += (number - result.mean) * (number - result.mean);
  if (count > 1) result.standard_error = std::sqrt(squares / (count - 1) / count);
  return result;
}

/// Those that take part; the others, whose steps cost too much, go into `left_out`.
std::vector<std::string> candidates_of(Setup& setup, std::vector<std::string>& left_out) {
  std::vector<std::string> names;
  for (const std::string& name : std::vector<std::string>(setup.task().candidates())) {
    setup.set("model.name", name);
    (setup.task().cost() <= kMostCost ? names : left_out).push_back(name);
  }
  return names;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The race: who is clearly behind after some repeats does not run the others.
class Race {
 public:
  Race(const std::vector<std::string>& names, double overlap)
      : losses_(names.size()), runs_(names.size(), true), overlap_(overlap) {
    for (const std::string& name : names) candidates_.push_back({name});
  }

  bool runs(size_t candidate) const { return runs_[candidate]; }
  void add(size_t candidate, const std::vector<double>& losses, const HeldOut& rows,
           double seconds) {
    if (rows.larger) losses_[candidate].clear();
    losses_[candidate].insert(losses_[candidate].end(), losses.begin(), losses.end());
    candidates_[candidate].seconds += seconds;
  }
  /// Of those that still run. Differences are taken block by block: what is hard for one is hard
  /// for all.
  void compare() {
    double lowest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < losses_.size(); ++i) {
      if (!runs_[i]) continue;
      candidates_[i].loss = mean_and_error(losses_[i]).mean;
      if (candidates_[i].loss < lowest) lowest = candidates_[i].loss, best_ = i;
    }
    for (size_t i = 0; i < losses_.size(); ++i) {
      if (!runs_[i]) continue;
      std::vector<double> differences;
      for (size_t block = 0; block < losses_[i].size(); ++block)
        differences.push_back(losses_[i][block] - losses_[best_][block]);
      const auto [difference, error] = mean_and_error(differences);
      candidates_[i].difference = difference;
      candidates_[i].standard_error = overlap_ * error;
      runs_[i] = differences.size() < kFewestBlocks || i == best_ ||
                 difference <= kBehind * candidates_[i].standard_error;
    }
  }
  const std::vector<Candidate>& candidates() const { return candidates_; }

 private:
  std::vector<std::vector<double>> losses_;  // of each candidate, block by block
  std::vector<Candidate> candidates_;
  std::vector<bool> runs_;
  double overlap_;
  size_t best_ = 0;
};

}  // namespace

void take_best(ModelChoice& choice) {
  constexpr double kMostBehind = 0.05;  // of the loss
  const auto& candidates = choice.candidates;
  const Candidate& best = *std::ranges::min_element(candidates, {}, [](const Candidate& one) {
    return std::isnan(one.difference) ? INFINITY : one.difference;
  });
  const auto is_close = [](const Candidate& one) { return one.difference <= one.standard_error; };
  const Candidate& preferred = candidates[0];
  const Candidate* taken = &best;  // the simplest of those that are close: these are the last
  for (size_t i = 1; i < candidates.size(); ++i)
    if (is_close(candidates[i])) taken = &candidates[i];
  // Few rows have large standard errors, and tell nothing in favour of the preferred one.
  const double doubt =
      std::max({preferred.difference, preferred.standard_error, taken->standard_error});
  if (is_close(preferred) && doubt <= kMostBehind * std::abs(best.loss)) taken = &preferred;
  choice.model = taken->model;
  choice.reason = taken == &best ? "it has the lowest loss"
                                 : concat("it is within one standard error of ", best.model,
                                          taken == &preferred ? "" : " and simpler");
}

TextTable ModelChoice::table() const {
  TextTable table({"model", "loss", "behind the best", "seconds"});
  for (const Candidate& one : candidates)
    table.add({one.model + (one.model == model ? " (chosen)" : ""), format_number(one.loss, 4),
               one.difference == 0 ? ""
                                   : concat(format_number(one.difference, 2), " ± ",
                                            format_number(one.standard_error, 2)),
               format_number(one.seconds, 2)});
  return table;
}

Json ModelChoice::to_json() const {
  Json json{{"model", model},
            {"reason", reason},
            {"training_rows", training_rows},
            {"held_out_rows", held_out_rows},
            {"repeats", repeats},
            {"candidates", Json::array()}};
  if (!left_out.empty()) json["left_out"] = left_out;
  for (const Candidate& one : candidates)
    json["candidates"].push_back({{"model", one.model},
                                  {"loss", one.loss},
                                  {"difference", one.difference},
                                  {"standard_error", one.standard_error},
                                  {"seconds", one.seconds}});
  return json;
}

std::optional<ModelChoice> choose_model(Setup& setup, const Splits& splits,
                                        const ChooseHooks& hooks) {
  if (setup.task().candidates().empty()) return {};
  setup.merge(changed_options(setup), "the options");
  ModelChoice choice;
  const std::vector<std::string> names = candidates_of(setup, choice.left_out);
  choice.model = names[0];
  const int64_t rows = splits.train->size();
  auto repeats = hold_out_repeatedly(rows, static_cast<uint64_t>(setup.common().seed));
  const bool is_timed = setup.training().seconds > 0;
  if (is_timed)  // fewer repeats rather than trainings that are too short to tell anything
    repeats.resize(std::clamp(
        size_t(kShareOfChoice * setup.training().seconds / kFewestSeconds / double(names.size())),
        size_t(1), repeats.size()));
  choice.repeats = repeats.back().larger ? 1 : int64_t(repeats.size());
  choice.training_rows = int64_t(repeats.back().training.size());
  for (const auto& block : repeats[0].blocks) choice.held_out_rows += int64_t(block.size());

  Race race(names, overlap_factor(repeats));
  const double end = seconds_now() + kShareOfChoice * setup.training().seconds;
  // With a time to keep, each of those that may still run gets the same share of it.
  const auto share_of_time = [&](size_t repeat, size_t candidate) {
    if (!is_timed) return 0.0;
    size_t runs = 0;
    for (size_t i = 0; i < names.size(); ++i)
      runs += race.runs(i) * (repeats.size() - repeat - (i < candidate));
    return std::max(0.01, (end - seconds_now()) / double(runs));
  };
  const auto stopped = [&] { return hooks.should_stop && hooks.should_stop(); };
  const bool possible = choice.held_out_rows > 0;
  for (size_t repeat = 0; possible && repeat < repeats.size(); ++repeat) {
    if (repeat > 0 && is_timed && seconds_now() >= end) {
      choice.repeats = std::min(choice.repeats, int64_t(repeat));
      choice.training_rows = int64_t(repeats[repeat - 1].training.size());
      break;
    }
    for (size_t i = 0; i < names.size() && !stopped(); ++i) {
      if (!race.runs(i)) continue;
      const std::string title = concat("choosing the model: ", repeat * names.size() + i + 1,
                                       " of ", repeats.size() * names.size(), ", ", names[i]);
      const double most_seconds = share_of_time(repeat, i);
      setup.set("model.name", names[i]);
      const double begin = seconds_now();
      const auto losses = block_losses(setup, splits, repeats[repeat], most_seconds, title, hooks);
      race.add(i, losses, repeats[repeat], seconds_now() - begin);
    }
    require(!stopped(), ErrorKind::InvalidArgument,
            "stopped while the model was chosen; nothing was written, the same command begins "
            "again");
    race.compare();
  }
  if (!possible) {
    choice.reason = concat(rows, " rows are too few to choose by");
  } else {
    choice.candidates = race.candidates();
    take_best(choice);
  }
  setup.set("model.name", choice.model);
  return choice;
}

TrainingTime time_choice(Setup& setup, const Splits& splits, double seconds) {
  constexpr size_t kRowsOfFit = 1000;
  TrainingTime time;
  if (setup.task().candidates().empty()) return time;
  const std::string asked = setup.task().model_name();
  const auto repeats =
      hold_out_repeatedly(splits.train->size(), static_cast<uint64_t>(setup.common().seed));
  if (repeats[0].blocks[0].empty()) return time;  // too few rows to choose by
  setup.merge(changed_options(setup), "the options");
  std::vector<int64_t> rows_of_fit = repeats[0].training;
  rows_of_fit.resize(std::min(rows_of_fit.size(), kRowsOfFit));
  const RowSubset some(splits.train, rows_of_fit);
  std::vector<std::string> left_out;
  for (const std::string& name : candidates_of(setup, left_out)) {
    setup.set("model.name", name);
    const auto model = fresh_model(setup);
    const double begin = seconds_now();
    if (!setup.has_budget() && setup.task().fit(*model, some)) {
      const double of_row = (seconds_now() - begin) / double(some.size());
      for (const HeldOut& rows : repeats) time.choice += of_row * double(rows.training.size());
      continue;
    }
    const TrainingTime own = time_network(setup, splits, seconds);
    for (const HeldOut& rows : repeats) {
      Trainer trainer = trainer_of(setup, *model, candidate_training(setup, rows.is_last));
      time.choice += planned_seconds(trainer.plan(RowSubset(splits.train, rows.training)), own);
    }
    const bool refits =
        splits.validation && !setup.has_budget() && setup.task().refits(/*fitted=*/false);
    const double whole =
        planned_seconds(trainer_of(setup, *model, setup.training()).plan(*splits.train), own);
    time.longest = std::max(time.longest, refits ? with_refit(whole, splits) : whole);
  }
  setup.set("model.name", asked);
  if (const double most = setup.training().seconds; most > 0) {
    time.choice = std::min(time.choice, kShareOfChoice * most);
    time.longest = std::min(time.longest, most - time.choice);
  }
  return time;
}

}  // namespace fovea
