#include <iostream>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "fovea/core/error.h"
#include "fovea/tasks/train.h"

namespace fovea::cli {

namespace {

struct Flags {
  std::string run, out;
  int64_t keep = 0;
  bool json = false;
};

void run(const Flags& flags) {
  Pipeline before = Pipeline::load(flags.run);
  const Splits splits = before.load_data("");
  const auto judge = splits.validation ? splits.validation : splits.train;
  const Metrics metrics_before = before.measure(*judge);
  const int64_t parameters_before = count_parameters(before.model());

  Setup setup = std::move(before.setup());
  const std::vector<std::string> kept =
      setup.task().keep_most_attended(before.model(), *splits.train, flags.keep);
  RunFolder folder(output_folder(
      flags.out, std::filesystem::path(flags.run).lexically_normal().string() + "-pruned"));
  catch_interrupts();
  TrainRequest request;
  request.folder = &folder;
  request.hooks.should_stop = was_interrupted;
  const Training after = train(setup, request);

  if (flags.json) {
    std::cout << Json{{"run", folder.path().string()},
                      {"kept", kept},
                      {"before",
                       {{"parameters", parameters_before},
                        {"metrics", metrics_json(metrics_before)}}},
                      {"after",
                       {{"parameters", count_parameters(*after.model)},
                        {"metrics", metrics_json(after.validation)}}}}
                     .dump(2)
              << "\n";
    return;
  }
  TextTable table({"", "before", "after"});
  table.add({"parameters", format_count(parameters_before),
             format_count(count_parameters(*after.model))});
  for (const Metric& metric : metrics_before)
    for (const Metric& now : after.validation)
      if (now.name == metric.name)
        table.add({metric.name, format_number(metric.value, 5), format_number(now.value, 5)});
  std::cerr << "kept: " << join(kept) << "\n";
  std::cout << table.plain() << folder.path().string() << "\n";
}

}  // namespace

void add_prune(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "prune", "keeps the columns that attention looks at most, retrains, shows what it cost");
  auto flags = std::make_shared<Flags>();
  command->add_option("run", flags->run, "a run of the task features")->required();
  command->add_option("--keep", flags->keep, "how many columns stay")->required();
  command->add_option("--out", flags->out, "folder for the new run (default: RUN-pruned)");
  command->add_flag("--json", flags->json, "the result as one JSON value");
  command->footer("Example:  fovea prune runs/first --keep 2");
  command->callback([flags] { run(*flags); });
}

}  // namespace fovea::cli
