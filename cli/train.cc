#include <functional>
#include <iostream>

#include "cli/board.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/tasks/folds.h"
#include "fovea/tasks/preview.h"
#include "fovea/tasks/watch.h"
#include "fovea/training/tensorboard.h"

namespace fovea::cli {

namespace {

struct TrainCommandFlags : TrainFlags {
  std::string out, tensorboard;
  bool resume = false, overwrite = false, dry_run = false, page = false;
  int64_t folds = 0, watch = 0;
  int port = 0;
};

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

TextTable layer_table(const Model& model) {
  TextTable table({"layer", "output", "parameters"});
  for (const LayerSummary& layer : model.summary())
    table.add({layer.layer, shape_text(layer.output_shape), format_count(layer.parameters)});
  table.add({"total", "", format_count(count_parameters(model))});
  return table;
}

/// "at most 223 epochs of 9 steps, 16 rows each; stops after 13 looks without gain".
std::string plan_text(const TrainingPlan& plan) {
  const TrainingOptions& options = plan.options;
  std::string text = concat("at most ", format_count(options.epochs), " epochs of ",
                            format_count(plan.steps_per_epoch), " steps");
  if (options.batch_tokens == 0) text += concat(", ", options.batch_size, " rows each");
  if (options.steps > 0) text += concat("; at most ", format_count(plan.steps), " steps");
  if (options.seconds > 0) text += concat("; at most ", format_duration(options.seconds));
  if (options.evaluate_epochs > 1)
    text += concat("; validated every ", options.evaluate_epochs, " epochs");
  if (options.patience > 0)
    text += concat("; stops after ", options.patience, " validations without gain");
  return text;
}

/// How model.name=auto came to its model.
void print_choice(const ModelChoice& choice) {
  if (!choice.candidates.empty())
    std::cerr << "trained on " << format_count(choice.training_rows) << " rows, measured on "
              << format_count(choice.held_out_rows) << " others"
              << (choice.repeats > 1 ? concat(", ", choice.repeats, " times") : "") << ":\n"
              << choice.table().plain();
  if (!choice.left_out.empty())
    tell(concat("not tried, since a step takes too long with so many columns: ",
                join(choice.left_out)));
  tell(concat("model.name=", choice.model, ": ", choice.reason));
}

std::string as_asked_for(double seconds) {
  return concat("at most ", format_duration(seconds), ", as asked for");
}

/// "at most about 33.5 s (4.1 ms a step)".
std::string time_text(const Training& training) {
  const double most = training.plan.options.seconds, seconds = training.seconds();
  if (most > 0 && seconds >= most) return as_asked_for(most);
  if (training.fitted) return "about " + format_duration(seconds);
  return concat("at most about ", format_duration(seconds), " (",
                format_number(training.time.step * 1000, 3), " ms a step)");
}

constexpr double kTimedSeconds = 0.1;  // of steps, to say how long a training takes
constexpr const char* kFitted =
    "fitted without steps, exactly (L-BFGS), the penalty by cross-validation";

void print_summary(const Training& training) {
  for (const std::string& note : training.splits.notes) tell(note);
  if (training.choice) print_choice(*training.choice);
  std::cerr << layer_table(*training.model).plain();
  tell(training.fitted ? kFitted : plan_text(training.plan));
  if (training.time.step > 0) tell("time: " + time_text(training));
}

std::string count_text(const std::shared_ptr<Dataset>& rows) {
  return format_count(rows ? rows->size() : 0);
}

/// "at most about 57.5 s: 24 s to choose the model, then at most about 33.5 s (4.1 ms a step)".
std::string time_text(const TrainingPreview& preview) {
  const double choice = preview.training.time.choice;
  if (choice == 0) return time_text(preview.training);
  const double most = preview.training.plan.options.seconds;
  if (most > 0 && preview.seconds() >= most) return as_asked_for(most);
  return concat("at most about ", format_duration(preview.seconds()), ": ", format_duration(choice),
                " to choose the model, then ", time_text(preview.training));
}

void run_dry(const TrainCommandFlags& flags) {
  Setup setup = make_setup(flags);
  catch_interrupts();
  const TrainingPreview preview = preview_training(setup);
  if (flags.json) {
    std::cout << preview.to_json(setup).dump(2) << "\n";
    return;
  }
  const Training& training = preview.training;
  const Splits& splits = training.splits;
  TextTable table({"", ""});
  const auto add = [&](const char* what, const std::string& value) { table.add({what, value}); };
  add("data", setup.common().data_path.empty() ? "built-in" : setup.common().data_path);
  add("rows", concat(count_text(splits.train), " training, ", count_text(splits.validation),
                     " validation, ", count_text(splits.test), " test"));
  for (size_t i = 0; i < preview.class_counts.size(); ++i)
    add(i == 0 ? "classes" : "",
        concat(preview.classes[i], ": ", format_count(preview.class_counts[i])));
  if (!setup.task().candidates().empty())
    add("model", concat("the best of ", join(setup.task().candidates()),
                        " on held-out rows; the layers above are those of the first"));
  const TrainingOptions& options = training.plan.options;
  add("training", training.fitted ? kFitted : plan_text(training.plan));
  if (!training.fitted)
    add("optimiser", concat(options.optimiser, ", rate ", format_number(options.learning_rate, 3),
                            ", ", options.schedule));
  add("time", time_text(preview));
  add("memory", concat(format_count(preview.memory >> 20), " MiB so far"));
  for (const std::string& note : splits.notes) put_line(note);
  std::cout << layer_table(*training.model).plain() << table.plain();
  tell("dry run: nothing was written");
}

/// A line for each stage, and its bar.
class StageBar {
 public:
  void operator()(const Stage& stage, int64_t done, int64_t total) {
    if (!bar_ || stage.title != title_) {
      end();
      tell(title_ = stage.title);
      bar_ = std::make_unique<Progress>(title_, total, stage.unit);
      if (stage.most_seconds > 0) bar_->ends_within(stage.most_seconds);
    }
    bar_->update(done);
  }
  void end() { bar_.reset(); }

 private:
  std::string title_;
  std::unique_ptr<Progress> bar_;
};

/// "choosing among attention, plain: at most about 24 s; then the training, at most about 33.5 s".
std::string choosing_text(const Task& task, const TrainingTime& time) {
  return concat("choosing among ", join(task.candidates()), ": at most about ",
                format_duration(time.choice), "; then the training, at most about ",
                format_duration(time.longest));
}

/// What of an assignment may be changed when a run goes on: how long.
bool is_budget(const std::string& assignment) {
  for (const char* key : {"training.epochs=", "training.steps=", "training.seconds="})
    if (assignment.starts_with(key)) return true;
  return false;
}

/// A resumed run keeps its options; only a longer training may be asked for.
Setup resumed_setup(const TrainCommandFlags& flags, const RunFolder& folder) {
  Setup setup = setup_of_run(folder);
  setup.task().loading = progress_bar;
  require(setup.task_name() == flags.task, ErrorKind::InvalidArgument, folder.path().string(),
          ": is a run of the task ", setup.task_name(), ", not ", flags.task);
  TrainFlags given = flags;
  given.epochs.reset();
  given.threads.reset();
  given.time.reset();
  std::erase_if(given.assignments, is_budget);
  const Setup asked = make_setup(given), plain(flags.task);
  require(asked.to_config() == plain.to_config(), ErrorKind::InvalidArgument,
          "--resume goes on with the run's own options; only --epochs, --time, --threads and --set "
          "training.steps=… may be given with it");
  if (flags.epochs) {
    setup.set("training.epochs", std::to_string(*flags.epochs));
    setup.set("training.steps", "0");
  }
  if (flags.time) setup.set("training.seconds", format_exact(parse_duration(*flags.time)));
  for (const std::string& assignment : flags.assignments) {
    if (assignment.starts_with("training.steps=")) setup.set("training.epochs", "0");
    setup.set(assignment);
  }
  if (flags.threads) setup.set("threads", std::to_string(*flags.threads));
  return setup;
}

/// Trains one model for each fold; says what each gave.
FoldsResult run_folds(const TrainCommandFlags& flags, const RunFolder& folder) {
  RunFolder(folder.path())
      .claim(flags.overwrite ? Claim::Overwrite : Claim::New);  // or refused now
  Progress progress("folds", flags.folds, "folds", flags.quiet);
  StageBar bar;
  FoldsRequest request;
  request.make_setup = [&] { return make_setup(flags); };
  request.folds = flags.folds;
  request.should_stop = was_interrupted;
  if (!flags.quiet) request.stage = std::ref(bar);
  request.fold_ended = [&](int64_t fold, const Training& training) {
    bar.end();
    progress.line(concat("fold ", fold, "/", flags.folds, "  ", metrics_text(training.validation),
                         "  (best epoch ", training.result.best_epoch, ")"));
    progress.update(fold);
  };
  return cross_validate(request);
}

/// Mean and interval of every metric over the folds.
TextTable folds_table(const FoldsResult& folds) {
  TextTable table({"metric", "mean", "95 % interval", "folds"});
  for (const Metric& metric : folds.metrics.front()) {
    const Summary all = folds.summary(metric.name);
    if (all.count == 0) continue;
    table.add({metric.name, format_number(all.mean, 4),
               all.interval ? concat(format_number(all.mean - *all.interval, 4), " to ",
                                     format_number(all.mean + *all.interval, 4))
                            : "",
               format_count(all.count)});
  }
  return table;
}

/// A hint where a validation metric is a rough one, and what the rows were used for after it.
void tell_held_out_rows(const Setup& setup, const Training& training) {
  if (training.splits.train->size() < kFewRows) {
    const bool foldable = setup.task().has_folds() && !setup.common().data_path.empty();
    const int64_t rows = training.splits.validation->size();
    tell(concat("only ", format_count(rows), rows == 1 ? " validation row" : " validation rows",
                foldable ? "; --folds 5 measures on all rows" : ""));
  }
  if (training.refitted_rows > 0)
    tell(concat("the run's weights were then learned again from all ",
                format_count(training.refitted_rows), " rows"));
}

/// How the training ended, and the command that goes on with it.
std::string end_text(const TrainCommandFlags& flags, const RunFolder& folder,
                     const Training& training) {
  const TrainingResult& result = training.result;
  const std::string go_on =
      concat("fovea train ", flags.task, " --out ", folder.path().string(), " --resume");
  if (flags.epochs == 0) return "untrained, as --epochs 0 asks for";
  if (training.fitted && !result.stopped) return "";
  if (result.stopped) return "stopped; go on with: " + go_on;
  if (result.end == TrainingEnd::Time) return concat(result.summary(), "; go on with: ", go_on);
  if (!result.still_improving) return result.summary();
  return concat(result.summary(), ": try ", go_on, " --epochs ", 2 * result.planned_epochs);
}

/// The metric that decides, beside the baselines, and what must not be missed.
void print_judgement(const Evaluation& evaluation) {
  const std::string headline = evaluation.headline();
  if (headline.empty()) return;
  tell(headline);
  for (const std::string& remark : evaluation.remarks()) tell(remark);
}

void run_train(const TrainCommandFlags& flags) {
  if (flags.dry_run) return run_dry(flags);
  RunFolder folder(output_folder(flags.out, "runs/" + flags.task));
  require(!flags.resume || !flags.out.empty(), ErrorKind::InvalidArgument,
          "--resume needs --out RUN: the run to go on with");
  require(!flags.resume || !flags.overwrite, ErrorKind::InvalidArgument,
          "--resume goes on with a run, --overwrite replaces it; give one of them");
  require(flags.epochs != 0 || (!flags.resume && flags.folds == 0), ErrorKind::InvalidArgument,
          "--epochs 0 keeps the first weights; it goes neither with --resume nor with --folds");
  require(flags.folds == 0 || !flags.resume, ErrorKind::InvalidArgument,
          "--folds begins anew; it does not go with --resume");
  Setup setup = flags.resume ? resumed_setup(flags, folder) : make_setup(flags);
  catch_interrupts();
  std::optional<LivePage> page;
  if (flags.page) page.emplace(folder.path(), flags.port);
  std::optional<FoldsResult> folds;
  if (flags.folds > 0) {
    folds = run_folds(flags, folder);
    use_all_folds(setup, *folds);
  }

  std::unique_ptr<Progress> progress;
  std::unique_ptr<TensorBoardLog> tensorboard;
  TrainRequest request;
  request.folder = &folder;
  request.resume = flags.resume;
  request.overwrite = flags.overwrite;
  StageBar bar;
  if (!flags.quiet) {
    request.time_steps = kTimedSeconds;
    request.stage = [&](const Stage& stage, int64_t done, int64_t total) {
      if (progress) progress->finish();
      bar(stage, done, total);
    };
    request.choosing = [&](const TrainingTime& time) { tell(choosing_text(setup.task(), time)); };
  }
  request.untrained = flags.epochs == 0;
  request.watch = flags.page ? std::max<int64_t>(flags.watch, 1) : flags.watch;
  if (folds) request.folds = folds->to_json();
  request.loaded = [&](const Training& training) {
    bar.end();
    for (const std::string& warning : training.warnings)
      std::cerr << "warning: " << warning << "\n";
    if (!flags.quiet) print_summary(training);
    if (!flags.tensorboard.empty())
      tensorboard = std::make_unique<TensorBoardLog>(flags.tensorboard);
    const int64_t rows =
        training.fitted ? 0 : planned_rows(training.plan, training.splits.train->size());
    progress = std::make_unique<Progress>("training", rows, "rows", flags.quiet);
    if (const double most = training.plan.options.seconds; most > 0)
      progress->ends_within(most - training.time.spent);
  };
  request.hooks.note = [&](const std::string& sentence) { progress->line(sentence); };
  request.hooks.progress = [&](int64_t rows, double loss) {
    progress->update(rows, "loss " + format_number(loss, 4));
  };
  request.hooks.should_stop = was_interrupted;
  request.hooks.step_ended = [&](const StepReport& report) {
    if (tensorboard) tensorboard->add(report);
  };
  request.hooks.epoch_ended = [&](const EpochReport& report) {
    if (tensorboard) tensorboard->add(report);
    progress->line(concat(
        "epoch ", report.epoch, "/", setup.training().epochs, "  loss ",
        format_number(report.loss, 4),
        report.validation.empty() ? "" : "  |  validation  " + metrics_text(report.validation),
        "  (", format_duration(report.seconds), ")"));
  };
  const Training training = train(setup, request);
  bar.end();
  progress.reset();
  if (page) page->end();

  const TrainingResult& result = training.result;
  const std::string end = end_text(flags, folder, training);
  if (!end.empty() && (result.stopped || !flags.quiet)) tell(end);
  if (flags.json) {
    Json json{{"task", flags.task},
              {"run", folder.path().string()},
              {"stopped", result.stopped},
              {"end", result.to_json()},
              {"best_epoch", result.best_epoch},
              {"averaged_epochs", result.average.best ? result.average.epochs : 0},
              {"parameters", count_parameters(*training.model)},
              {"fitted", training.fitted},
              {"refitted_rows", training.refitted_rows},
              {"seconds", result.seconds},
              {"epochs", Json::array()},
              {"metrics", metrics_json(training.validation)}};
    for (const EpochReport& report : result.epochs) json["epochs"].push_back(report.to_json());
    if (training.choice) json["choice"] = training.choice->to_json();
    if (folds) json["folds"] = folds->to_json();
    if (!training.evaluation.metrics.empty()) json["evaluation"] = training.evaluation.to_json();
    std::cout << json.dump(2) << "\n";
    return;
  }
  if (!flags.quiet && !training.validation.empty()) {
    if (training.fitted)
      std::cerr << "fitted";
    else if (result.average.best)
      std::cerr << "mean of the last " << result.average.epochs << " epochs";
    else
      std::cerr << "best epoch " << result.best_epoch;
    std::cerr << "  |  validation  " << metrics_text(training.validation) << "\n";
    tell_held_out_rows(setup, training);
  }
  if (!flags.quiet) print_judgement(training.evaluation);
  if (folds) std::cout << folds_table(*folds).plain();
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
  command
      ->add_option("--folds", flags->folds,
                   "cross-validation: so many trainings, each judged on another share of the rows; "
                   "then the model that is kept, on all rows")
      ->check(CLI::Range(2, 1000));
  command
      ->add_flag("--page", flags->page,
                 "show curves, speed and attention on a page of this machine while it trains; "
                 "fovea board RUN shows them again")
      ->excludes(command->get_option("--folds"));
  command->add_option("--port", flags->port, "of --page; 0: any free one")
      ->check(CLI::Range(0, 65535));
  command
      ->add_option("--watch", flags->watch,
                   "keep the attention of so many validation rows epoch by epoch, for the page; "
                   "--page keeps that of one")
      ->check(CLI::Range(int64_t{0}, kMostWatched));
  command->add_option("--tensorboard", flags->tensorboard,
                      "also write the curves into this folder as TensorBoard's event files");
  command->add_flag("--dry-run", flags->dry_run,
                    "say what was understood of the data, and how long the training would take; "
                    "write nothing");
  command->footer(
      "Examples:\n"
      "  fovea train features --config tutorial --out runs/first\n"
      "  fovea data features --set data.rows=1000 --out data/mine && fovea train features "
      "data/mine --target y --epochs 5 --out runs/mine\n"
      "  fovea train tag --set data.rows=500 --epochs 1 --out runs/tag");
  command->callback([flags] { run_train(*flags); });
}

}  // namespace fovea::cli
