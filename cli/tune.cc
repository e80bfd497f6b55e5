#include "fovea/tasks/tune.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/report.h"

namespace fovea::cli {

namespace {

struct TuneFlags : TrainFlags {
  std::vector<std::string> vary;
  int64_t trials = 27, seeds = TuneRequest().seeds;
  std::string out;
};

/// Options that were set on the command line keep their values.
std::vector<Tunable> varied(const TuneFlags& flags, const TrainFlags& each) {
  std::vector<Tunable> tunables;
  for (const std::string& text : flags.vary) tunables.push_back(parse_tunable(text));
  if (!tunables.empty()) return tunables;
  tunables = usual_tunables(make_setup(each));
  for (const std::string& assignment : flags.assignments)
    std::erase_if(tunables,
                  [&](const Tunable& one) { return assignment.starts_with(one.key + "="); });
  require(!tunables.empty(), ErrorKind::InvalidArgument,
          "tune: all options that it would vary are set; name others with --vary key=a,b,c");
  return tunables;
}

void tell_trial(const TuneTrial& trial, bool is_new) {
  std::vector<std::string> options;
  for (const auto& [key, value] : trial.options) options.push_back(key + "=" + value);
  tell(concat("trial ", trial.number, trial.seed > 0 ? concat(", seed ", trial.seed + 1) : "", ", ",
              std::lround(100 * trial.share), " % of a training: ",
              trial.value ? format_number(*trial.value, 5) : "failed, " + trial.problem, "  (",
              format_duration(trial.seconds), ")  ",
              trial.number == 0 ? "usual options" : join(options, " "),
              is_new ? "" : "  (of an earlier call)"));
}

void print_search(const TuneResult& result, const TuneFlags& flags) {
  if (result.trials.empty()) {
    if (result.run.empty()) return;
    tell(concat("half of --time ", *flags.time,
                " was too short for one training with the usual options: no other was tried, and "
                "the run is what the rest of the time gave; give more time"));
    tell("validation: " + result.validation.headline());
    if (result.test) tell("test rows, looked at once: " + result.test->headline());
    return;
  }
  const TuneTrial &best = result.trials[result.best], &usual = result.trials[result.usual];
  std::cout << result.table().plain();
  if (!result.importance.empty())
    std::cout << "\n" << render_terminal(result.picture(), user_terminal());
  if (result.out_of_time)
    tell(concat("the time is up: ", std::ranges::max(result.trials, {}, &TuneTrial::number).number,
                " of ", flags.trials, " combinations were tried"));
  if (result.fitted && flags.vary.empty())
    tell(
        "the usual model is fitted exactly, without steps: none of the options that are usually "
        "varied changes it; name others with --vary key=a,b,c");
  if (result.stopped) return;
  const std::string over =
      result.finalists.empty()
          ? ""
          : concat(" (mean and deviation of ", result.finalists[0].values.size(), " seeds)");
  tell(result.best == result.usual
           ? concat("nothing better than the usual options was found: ", result.metric, " ",
                    result.value_text(usual), " on the validation rows", over)
           : concat("trial ", best.number, ": ", result.metric, " ", result.value_text(best),
                    ", usual options ", result.value_text(usual), over,
                    ", on the validation rows that chose it"));
  if (result.test) tell("test rows, looked at once: " + result.test->headline());
}

void run_tune(TuneFlags flags) {
  TuneRequest request;
  if (flags.time) request.seconds = parse_duration(*flags.time);
  TrainFlags each = flags;
  each.time.reset();  // it is of the whole search
  request.make_setup = [&] { return make_setup(each); };
  request.folder = flags.out.empty() ? "runs/" + flags.task + "-tune" : flags.out;
  request.tunables = varied(flags, each);
  request.are_usual = flags.vary.empty();
  request.trials = flags.trials;
  request.seeds = flags.seeds;
  catch_interrupts();
  request.should_stop = was_interrupted;
  if (!flags.quiet) request.trial_ended = tell_trial;
  const TuneResult result = tune(request);
  if (!result.trials.empty()) {
    write_json_file(request.folder / "tune.json", result.to_json());
    if (!result.importance.empty()) {
      const Explanation picture = result.picture();
      write_report(request.folder / "tune.html", {&picture, 1});
    }
  }
  if (result.stopped && result.trials.empty())
    tell("stopped before the first training ended: nothing was kept");
  else if (result.stopped)
    tell(concat("stopped; the same command goes on where this one was: ", request.folder.string()));
  if (flags.json)
    std::cout << result.to_json().dump(2) << "\n";
  else
    print_search(result, flags);
  if (!flags.json && !result.run.empty()) put_line(result.run.string());
}

}  // namespace

void add_tune(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "tune", "searches for better options: random values, the best of them trained for longer");
  auto flags = std::make_shared<TuneFlags>();
  add_train_flags(*command, *flags);
  command->add_option("--trials", flags->trials, "combinations to try")
      ->check(CLI::Range(1, 100000));
  command
      ->add_option(
          "--seeds", flags->seeds,
          "from so many seeds the usual options and the best two others are trained in the "
          "end; the best mean wins")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->get_option("--time")->description("for the whole search: 90s, 10m, 2h");
  command
      ->add_option("--vary", flags->vary,
                   "in place of the usual options: key=a,b,c or key=low..high; give it again for "
                   "more")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--out", flags->out,
                      "folder for the trials and the best run (default: runs/TASK-tune); a search "
                      "that is there goes on");
  command->footer(
      "Examples:\n"
      "  fovea tune features data/mine --target y --time 10s --out runs/tuned\n"
      "  fovea tune features --set data.rows=500 --set model.name=linear --trials 3 --out "
      "runs/search\n"
      "  fovea tune tag --set data.rows=100 --vary training.learning_rate=0.001..0.01 --trials 2 "
      "--epochs 1 --out runs/rates");
  command->callback([flags] { run_tune(*flags); });
}

}  // namespace fovea::cli
