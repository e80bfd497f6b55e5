#include "fovea/tasks/choose_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/trainer.h"

namespace fovea {

namespace {

constexpr int64_t kSmallTable = 3000;  // fewer rows are cut several times
constexpr int64_t kChoiceRepeats = 5;
constexpr int64_t kMostTrainingRows = 8000;  // of a candidate
constexpr int64_t kMostHeldOutRows = 4000;
constexpr int64_t kChoiceBlocks = 10;  // of held-out rows, to know how far the loss varies
constexpr int64_t kFewestOfBlock = 16;

/// Some rows of another data set, in memory.
class ChosenRows : public Dataset {
 public:
  ChosenRows(const Dataset& all, std::vector<int64_t> rows) : all_(all), rows_(std::move(rows)) {
    const at::Tensor index = torch::tensor(rows_, torch::kInt64);
    for (const auto& [name, column] : all_.columns())
      columns_[name] = column.index_select(0, index);
  }
  int64_t size() const override { return int64_t(rows_.size()); }
  Example example(int64_t row) const override { return all_.example(at(row)); }
  Batch batch(std::span<const int64_t> rows) const override {
    std::vector<int64_t> places;
    for (const int64_t row : rows) places.push_back(at(row));
    return all_.batch(places);
  }
  int64_t length(int64_t row) const override { return all_.length(at(row)); }
  int64_t input_length(int64_t row) const override { return all_.input_length(at(row)); }
  const NamedTensors& columns() const override { return columns_; }

 private:
  int64_t at(int64_t row) const { return rows_[size_t(row)]; }
  const Dataset& all_;
  std::vector<int64_t> rows_;
  NamedTensors columns_;
};

/// Rows of one repeat: those to train on, and those to measure on in blocks.
struct HeldOut {
  std::vector<int64_t> training;
  std::vector<std::vector<int64_t>> blocks;
};

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
    const int64_t end = std::min(rows, held + kMostTrainingRows);
    own.training.assign(rotated.begin() + held, rotated.begin() + end);
  }
  return all;
}

double loss_in(const Metrics& metrics) {
  for (const Metric& metric : metrics)
    if (metric.name == "loss") return metric.value;
  fail(ErrorKind::Internal, "a task whose model is chosen must measure the loss");
}

/// The loss of one candidate on every block of every repeat.
std::vector<double> block_losses(Setup& setup, const Splits& splits,
                                 const std::vector<HeldOut>& repeats,
                                 const std::function<bool()>& should_stop) {
  const auto seed = static_cast<uint64_t>(setup.common().seed);
  const Task& task = setup.task();
  std::vector<double> losses;
  for (const HeldOut& own : repeats) {
    const auto model = task.make_model();
    model->initialise(Random(seed).split("weights"));
    model->to(setup.prepare_device());
    TrainerHooks hooks;
    hooks.should_stop = should_stop;
    if (splits.validation)
      hooks.evaluate = [&] { return task.measure(*model, *splits.validation); };
    Trainer(*model, setup.training(), seed).train(ChosenRows(*splits.train, own.training), hooks);
    for (const auto& block : own.blocks)
      losses.push_back(loss_in(task.measure(*model, ChosenRows(*splits.train, block))));
  }
  return losses;
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

double mean_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / double(numbers.size());
}

double standard_error_of(const std::vector<double>& numbers) {
  if (numbers.size() < 2) return 0;
  const double mean = mean_of(numbers);
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return std::sqrt(squares / double(numbers.size() - 1) / double(numbers.size()));
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

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
  const std::vector<std::string> names = setup.task().candidates();
  if (names.empty()) return {};
  setup.merge(changed_options(setup), "the options");
  ModelChoice choice;
  choice.model = names[0];
  const int64_t rows = splits.train->size();
  const auto repeats = hold_out_repeatedly(rows, static_cast<uint64_t>(setup.common().seed));
  choice.repeats = int64_t(repeats.size());
  choice.training_rows = int64_t(repeats[0].training.size());
  for (const auto& block : repeats[0].blocks) choice.held_out_rows += int64_t(block.size());

  std::vector<std::vector<double>> losses;
  const auto stopped = [&] { return hooks.should_stop && hooks.should_stop(); };
  for (size_t i = 0; i < names.size() && choice.held_out_rows > 0 && !stopped(); ++i) {
    if (hooks.progress) hooks.progress(names[i], int64_t(i), int64_t(names.size()));
    setup.set("model.name", names[i]);
    const double begin = seconds_now();
    losses.push_back(block_losses(setup, splits, repeats, hooks.should_stop));
    choice.candidates.push_back({names[i], mean_of(losses.back()), 0, 0, seconds_now() - begin});
  }
  if (choice.held_out_rows == 0 || stopped()) {
    choice.candidates.clear();
    choice.reason = choice.held_out_rows == 0 ? concat(rows, " rows are too few to choose by")
                                              : "the choice was stopped";
  } else {
    const auto best =
        std::min_element(choice.candidates.begin(), choice.candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.loss < b.loss; });
    const auto& best_losses = losses[size_t(best - choice.candidates.begin())];
    for (size_t i = 0; i < losses.size(); ++i) {
      for (size_t block = 0; block < best_losses.size(); ++block)
        losses[i][block] -= i == size_t(best - choice.candidates.begin()) ? 0 : best_losses[block];
    }
    for (size_t i = 0; i < losses.size(); ++i) {
      Candidate& own = choice.candidates[i];
      if (&own == &*best) continue;
      own.difference = mean_of(losses[i]);
      own.standard_error = standard_error_of(losses[i]);
    }
    const Candidate& preferred = choice.candidates[0];
    if (best->model == preferred.model) {
      choice.reason = "it has the lowest loss";
    } else if (preferred.difference <= preferred.standard_error) {
      choice.reason = concat("it is within one standard error of ", best->model);
    } else {
      choice.model = best->model;
      choice.reason = concat("its loss is lower than that of ", preferred.model,
                             " by more than one standard error");
    }
  }
  setup.set("model.name", choice.model);
  return choice;
}

}  // namespace fovea
