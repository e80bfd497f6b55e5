#include "fovea/tasks/train.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/row_subset.h"
#include "fovea/kernels/instruction_set.h"
#include "fovea/tasks/refit.h"
#include "fovea/tasks/run_card.h"
#include "fovea/tasks/version.h"
#include "fovea/tasks/watch.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

int64_t rows_of(const std::shared_ptr<Dataset>& rows) {
  return rows ? rows->size() : 0;
}

Json manifest_of(const Setup& setup, const Training& training, const RunFolder& folder) {
  Json manifest{
      {"fovea", version()},
      {"libtorch", TORCH_VERSION},
      {"instruction_set", kernels::name_of(kernels::instruction_set())},
      {"seed", setup.common().seed},
      {"parameters", count_parameters(*training.model)},
      {"data",
       {{"hash", training.splits.hash},
        {"source", setup.common().data_path.empty() ? "built-in" : setup.common().data_path},
        {"rows",
         {{"train", rows_of(training.splits.train)},
          {"validation", rows_of(training.splits.validation)},
          {"test", rows_of(training.splits.test)}}},
        {"notes", training.splits.notes}}},
      {"options", setup.to_config()},
      {"files", folder.hashes_of_assets()},
      {"training", {{"finished", false}}}};
  if (training.choice) manifest["choice"] = training.choice->to_json();
  if (training.refits) manifest["refits"] = true;
  return manifest;
}

/// "2026-03-01T12:00:00Z".
std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[24];
  ::gmtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// In the manifest: the training goes on.
void note_unfinished(const RunFolder& folder) {
  folder.require_still_ours();
  Json manifest = read_json_file(folder.manifest());
  manifest["training"] = {{"finished", false}};
  write_json_file(folder.manifest(), manifest);
}

/// In the manifest: whether and how the training came to its end.
void note_end(const RunFolder& folder, const Training& done) {
  folder.require_still_ours();
  Json manifest = read_json_file(folder.manifest());
  Json& training = manifest["training"];
  training = done.result.to_json();
  if (done.fitted) training["reason"] = "fitted", training["summary"] = "fitted without steps";
  training["finished"] = !done.result.stopped;
  training["ended"] = now_in_utc();
  write_json_file(folder.manifest(), manifest);
}

void write_config(const Setup& setup, const RunFolder& folder) {
  Json config{{"format_version", kRunFormatVersion}};
  config.update(setup.to_config());
  write_json_file(folder.config(), config);
}

constexpr const char* kBaselines = "baselines.safetensors";
constexpr int64_t kExampleInputs = 5;  // for people who try the run in a browser

/// Everything but the weights, so that a training killed right after its first checkpoint can be
/// resumed.
void write_run_description(const Setup& setup, const Training& training, const RunFolder& folder,
                           const Json& folds) {
  folder.begin();
  write_config(setup, folder);
  setup.task().save(folder);
  const Splits& splits = training.splits;
  const Dataset& rows =
      splits.validation && splits.validation->size() > 0 ? *splits.validation : *splits.train;
  if (!training.baselines.empty())
    write_safetensors(folder.new_asset(kBaselines), training.baselines);
  folder.write_asset("examples.json", setup.task().example_inputs(rows, kExampleInputs));
  const Json truths = setup.task().example_truths(rows, kExampleInputs);
  if (!truths.empty()) folder.write_asset(kExampleTruths, truths);
  Json manifest = manifest_of(setup, training, folder);
  if (!folds.is_null()) manifest["folds"] = folds;
  write_json_file(folder.manifest(), manifest);
}

void check_same_data(const Json& manifest, const RunFolder& folder, const Splits& splits) {
  const std::string before =
      Field::root(manifest, folder.manifest().string()).at("data").text_or_empty("hash");
  require(before == splits.hash, ErrorKind::BadData, folder.path().string(),
          ": the data changed since this run began (hash ", splits.hash, ", then ", before,
          "); a resumed training must see the same rows");
}

/// Sums are added in another order by other instructions and by other versions of LibTorch.
std::vector<std::string> warnings_of(const Json& manifest, const RunFolder& folder) {
  std::vector<std::string> warnings;
  const auto compare = [&](const char* key, const char* what, const std::string& now) {
    const std::string before =
        with_json_errors(folder.manifest().string(), [&] { return manifest.value(key, now); });
    if (before != now)
      warnings.push_back(concat(folder.path().string(), ": was begun with ", what, " ",
                                printable(before), ", this is ", now,
                                "; from here on the weights may differ in their last bits from "
                                "those of an uninterrupted training"));
  };
  compare("instruction_set", "the instruction set", kernels::name_of(kernels::instruction_set()));
  compare("libtorch", "LibTorch", TORCH_VERSION);
  return warnings;
}

/// What is decided on the validation rows once the weights are: how answers are given, and how good
/// they are.
void judge_run(Setup& setup, Training& training, const RunFolder& folder) {
  Model& model = *training.model;
  const Dataset& validation = *training.splits.validation;
  const bool changed = setup.task().fit_answers(model, validation);
  folder.require_still_ours();
  if (changed) {
    write_weights(folder.model(), state_of(model));
    training.validation = setup.task().measure(model, validation);
  }
  Json manifest = read_json_file(folder.manifest());
  manifest["answers"] = setup.task().fitted_answers();
  write_json_file(folder.manifest(), manifest);
  training.evaluation = setup.task().evaluate(model, validation, training.baselines);
  manifest["evaluation"] = evaluation_card(training.evaluation, "validation", validation.size());
  write_json_file(folder.manifest(), manifest);
}

/// InvalidArgument unless the task measures what is to be monitored. A few rows tell, in a moment
/// for a network that searches its answers; all of them where these lack a metric.
void check_monitors_on(Setup& setup, Model& model, const std::shared_ptr<const Dataset>& rows) {
  constexpr int64_t kFew = 16;
  const std::vector<std::string>& monitored = setup.training().monitor;
  const Metrics few = setup.task().measure(model, *sample_rows(rows, kFew));
  const auto is_there = [&](const std::string& name) { return find_metric(few, name) != nullptr; };
  if (!std::ranges::all_of(monitored, is_there))
    check_monitors(monitored, setup.task().measure(model, *rows));
}

/// A training that was watched goes on being watched.
int64_t rows_to_watch(const TrainRequest& request) {
  if (!request.folder) return 0;
  return std::max(request.watch, request.resume ? watched_rows(*request.folder) : 0);
}

}  // namespace

double Training::seconds() const {
  const double once = fitted ? time.fit : planned_seconds(plan, time);
  const double seconds = refits ? with_refit(once, splits) : once, most = plan.options.seconds;
  return most > 0 ? std::min(seconds, most) : seconds;
}

NamedTensors read_baselines(const RunFolder& folder) {
  const std::filesystem::path file = folder.asset(kBaselines);
  return std::filesystem::exists(file) ? read_safetensors(file).tensors : NamedTensors();
}

void check_run(const RunFolder& folder) {
  folder.check_assets();
  if (!std::filesystem::exists(folder.manifest())) return;
  const Json manifest = read_json_file(folder.manifest());
  if (!manifest.contains("options")) return;
  // Through a setup, so that options which the run's version did not have yet count as well.
  const std::string where = folder.manifest().string();
  const Json began = Setup::from_config(manifest["options"], where + ": options").to_config(),
             now = setup_of_run(folder).to_config();
  require(began["task"] == now["task"], ErrorKind::BadData, folder.config().string(),
          ": the task changed since the run was made");
  for (const std::string group : {"model", "data"}) {
    if (!now.contains(group)) continue;
    for (const auto& [key, value] : now[group].items()) {
      // How traces are read is a matter of the file and the machine.
      if (group == "data" && (key == "cut" || key == "scratch")) continue;
      const Json::json_pointer place(concat("/", group, "/", key));
      require(began.contains(place) && began[place] == value, ErrorKind::BadData,
              folder.config().string(), ": ", group, ".", key,
              " changed since the run was made, which its weights do not know; manifest.json has "
              "the options that they were trained with");
    }
  }
}

Setup setup_of_run(const RunFolder& folder) {
  return Setup::from_config(folder.read_config(), folder.config().string());
}

Training train(Setup& setup, const TrainRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  const at::Device device = setup.prepare_device();
  RunFolder* folder = request.folder;
  require(!request.resume || !request.overwrite, ErrorKind::InvalidArgument,
          "a run is either resumed or overwritten");
  if (folder)
    folder->claim(request.resume      ? Claim::Resume
                  : request.overwrite ? Claim::Overwrite
                                      : Claim::New);
  Training training;
  Json manifest;
  const std::string& from = setup.common().from;
  if (request.resume) {
    manifest = read_json_file(folder->manifest());
    check_run(*folder);
    training.warnings = warnings_of(manifest, *folder);
    undo_refit(*folder);
    setup.task().restore(*folder);
  } else if (!from.empty()) {
    setup.task().load_pretrained(from);
  }
  training.splits = setup.task().load(
      setup.source(), static_cast<uint64_t>(request.split_seed.value_or(setup.common().seed)));
  if (request.resume) check_same_data(manifest, *folder, training.splits);
  require(training.splits.train != nullptr, ErrorKind::BadData, "the data has no training rows");
  setup.task().check_output(training.splits.validation != nullptr);  // before minutes are spent
  const double timed = request.resume || request.untrained ? 0 : request.time_steps;
  if (timed > 0 && !setup.task().candidates().empty()) {
    training.time = time_choice(setup, training.splits, timed / 5);
    if (request.choosing && training.time.choice > 0) request.choosing(training.time);
  }
  if (!request.only_plans)
    training.choice =
        choose_model(setup, training.splits, {request.stage, request.hooks.should_stop});
  if (!setup.monitors_are_given())
    setup.training().monitor = setup.task().monitors(setup.training().monitor);
  const bool may_fit = !request.untrained && !setup.has_budget() && setup.task().has_fit();
  const auto time_steps = [&] {
    if (timed == 0) return;
    const TrainingTime own = time_network(setup, training.splits, timed);
    training.time.step = own.step;
    training.time.evaluation = own.evaluation;
  };
  if (!may_fit) time_steps();  // a large network does not stand in memory twice
  training.model = setup.task().make_model();
  training.model->initialise(Random(static_cast<uint64_t>(setup.common().seed)).split("weights"));
  if (!request.resume) setup.task().copy_pretrained(*training.model);
  training.model->to(device);
  const auto fit_begin = std::chrono::steady_clock::now();
  training.fitted = may_fit && setup.task().fit(*training.model, *training.splits.train,
                                                progress_of(request.stage, {"fitting", "fits"}));
  training.time.fit =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - fit_begin).count();
  if (may_fit && !training.fitted) time_steps();
  training.refits = request.resume
                        ? Field::root(manifest, "manifest.json").find("refits").has_value()
                        : (folder || request.only_plans) && !request.untrained &&
                              training.splits.validation && !setup.has_budget() &&
                              setup.task().refits(training.fitted);
  Trainer trainer(*training.model, setup.training(), static_cast<uint64_t>(setup.common().seed),
                  folder);
  training.plan = trainer.plan(*training.splits.train);
  if (!training.fitted) setup.training() = training.plan.options;
  training.fused = trainer.uses_fused_path(*training.splits.train);
  // One look before anything is written: of metrics that the task does not monitor by itself.
  const auto& validation = training.splits.validation;
  const auto looked_at =
      validation ? sample_rows(validation, setup.training().evaluate_rows) : nullptr;
  if (looked_at && !request.resume && setup.monitors_are_given())
    check_monitors_on(setup, *training.model, looked_at);
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  training.time.spent = spent();
  if (request.loaded) request.loaded(training);
  if (request.only_plans) return training;
  if (folder)
    training.baselines = request.resume ? read_baselines(*folder)
                                        : setup.task().fit_baselines(*training.splits.train);
  if (folder && !request.resume) write_run_description(setup, training, *folder, request.folds);
  if (folder && request.resume) note_unfinished(*folder);
  if (request.resume && folder->read_config() != setup.to_config()) {
    folder->require_still_ours();
    write_config(setup, *folder);
  }

  TrainerHooks hooks = request.hooks;
  if (looked_at) hooks.evaluate = [&] { return setup.task().measure(*training.model, *looked_at); };
  std::optional<AttentionWatch> watch;
  if (const int64_t count = rows_to_watch(request); count > 0) {
    const auto& shown = validation && validation->size() > 0 ? validation : training.splits.train;
    watch.emplace(setup.task(), *training.model, shown, count, *folder, hooks.note);
    hooks.look = [&](int64_t epoch, int64_t step) { watch->look(epoch, step); };
  }
  hooks.seconds_spent = spent();
  if (request.untrained || training.fitted)
    trainer.write_untrained(*training.splits.train);
  else
    training.result = trainer.train(*training.splits.train, hooks, request.resume);
  if (folder) note_end(*folder, training);
  if (validation) training.validation = setup.task().measure(*training.model, *validation);
  if (validation && folder && !training.result.stopped) judge_run(setup, training, *folder);
  if (training.refits && validation && !training.result.stopped)
    refit_on_all_rows(setup, training, *folder, request);
  if (folder) {
    folder->require_still_ours();
    setup.task().save_weights(*training.model, *folder);
  }
  return training;
}

}  // namespace fovea
