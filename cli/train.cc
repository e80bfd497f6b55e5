#include <iostream>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/tasks/train.h"

namespace fovea::cli {

namespace {

struct TrainCommandFlags : TrainFlags {
  std::string out;
  bool resume = false, overwrite = false;
};

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

void print_summary(const Training& training) {
  for (const std::string& note : training.splits.notes) tell(note);
  if (training.choice) {
    const ModelChoice& choice = *training.choice;
    if (!choice.candidates.empty())
      std::cerr << "trained on " << format_count(choice.training_rows) << " rows, measured on "
                << format_count(choice.held_out_rows) << " others"
                << (choice.repeats > 1 ? concat(", ", choice.repeats, " times") : "") << ":\n"
                << choice.table().plain();
    tell(concat("model.name=", choice.model, ": ", choice.reason));
  }
  TextTable table({"layer", "output", "parameters"});
  for (const LayerSummary& layer : training.model->summary())
    table.add({layer.layer, shape_text(layer.output_shape), format_count(layer.parameters)});
  table.add({"total", "", format_count(count_parameters(*training.model))});
  std::cerr << table.plain();
}

/// A resumed run keeps its options; only more epochs may be asked for.
Setup resumed_setup(const TrainCommandFlags& flags, const RunFolder& folder) {
  Setup setup = setup_of_run(folder);
  require(setup.task_name() == flags.task, ErrorKind::InvalidArgument, folder.path().string(),
          ": is a run of the task ", setup.task_name(), ", not ", flags.task);
  TrainFlags given = flags;
  given.epochs.reset();
  given.threads.reset();
  const Setup asked = make_setup(given), plain(flags.task);
  require(asked.to_config() == plain.to_config(), ErrorKind::InvalidArgument,
          "--resume goes on with the run's own options; only --epochs and --threads may be given "
          "with it");
  if (flags.epochs) setup.set("training.epochs", std::to_string(*flags.epochs));
  if (flags.threads) setup.set("threads", std::to_string(*flags.threads));
  return setup;
}

void run_train(const TrainCommandFlags& flags) {
  RunFolder folder(output_folder(flags.out, "runs/" + flags.task));
  require(!flags.resume || !flags.out.empty(), ErrorKind::InvalidArgument,
          "--resume needs --out RUN: the run to go on with");
  require(!flags.resume || !flags.overwrite, ErrorKind::InvalidArgument,
          "--resume goes on with a run, --overwrite replaces it; give one of them");
  Setup setup = flags.resume ? resumed_setup(flags, folder) : make_setup(flags);
  catch_interrupts();

  std::unique_ptr<Progress> progress;
  TrainRequest request;
  request.folder = &folder;
  request.resume = flags.resume;
  request.overwrite = flags.overwrite;
  if (!flags.quiet)
    request.choosing = [](const std::string& model, int64_t done, int64_t total) {
      tell(concat("choosing the model: ", done + 1, " of ", total, ", ", model));
    };
  request.loaded = [&](const Training& training) {
    for (const std::string& warning : training.warnings)
      std::cerr << "warning: " << warning << "\n";
    if (!flags.quiet) print_summary(training);
    progress = std::make_unique<Progress>(
        "training", setup.training().epochs * training.splits.train->size(), "rows", flags.quiet);
  };
  request.hooks.progress = [&](int64_t rows, double loss) {
    progress->update(rows, "loss " + format_number(loss, 4));
  };
  request.hooks.should_stop = was_interrupted;
  request.hooks.epoch_ended = [&](const EpochReport& report) {
    progress->line(concat(
        "epoch ", report.epoch, "/", setup.training().epochs, "  loss ",
        format_number(report.loss, 4),
        report.validation.empty() ? "" : "  |  validation  " + metrics_text(report.validation),
        "  (", format_duration(report.seconds), ")"));
  };
  const Training training = train(setup, request);
  progress.reset();

  const TrainingResult& result = training.result;
  if (result.stopped)
    tell(concat("stopped; go on with: fovea train ", flags.task, " --out ", folder.path().string(),
                " --resume"));
  if (flags.json) {
    Json json{{"task", flags.task},
              {"run", folder.path().string()},
              {"stopped", result.stopped},
              {"best_epoch", result.best_epoch},
              {"averaged_epochs", result.average.best ? result.average.epochs : 0},
              {"parameters", count_parameters(*training.model)},
              {"seconds", result.seconds},
              {"epochs", Json::array()},
              {"metrics", metrics_json(training.validation)}};
    for (const EpochReport& report : result.epochs) json["epochs"].push_back(report.to_json());
    if (training.choice) json["choice"] = training.choice->to_json();
    std::cout << json.dump(2) << "\n";
    return;
  }
  if (!flags.quiet && !training.validation.empty()) {
    if (result.average.best)
      std::cerr << "mean of the last " << result.average.epochs << " epochs";
    else
      std::cerr << "best epoch " << result.best_epoch;
    std::cerr << "  |  validation  " << metrics_text(training.validation) << "\n";
  }
  put_line(folder.path().string());
}

}  // namespace

void add_train(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "train", "trains a model on your data, or on the task's built-in data");
  auto flags = std::make_shared<TrainCommandFlags>();
  add_train_flags(*command, *flags);
  command->add_option("--out", flags->out,
                      "folder for the run (default: runs/TASK, or the next free runs/TASK-2, …)");
  command->add_flag("--resume", flags->resume,
                    "go on with the run in --out as if it had never stopped");
  command->add_flag("--overwrite", flags->overwrite,
                    "write into --out even if it is not empty: files of a run are replaced, all "
                    "others stay");
  command->footer(
      "Examples:\n  fovea train features --out runs/first\n"
      "  fovea train features people.csv --target income --set model.hidden=32 --out runs/people");
  command->callback([flags] { run_train(*flags); });
}

}  // namespace fovea::cli
