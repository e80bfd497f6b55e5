#include <iostream>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "fovea/core/error.h"
#include "fovea/core/progress.h"
#include "fovea/tasks/compare.h"

namespace fovea::cli {

namespace {

struct CompareFlags : TrainFlags {
  std::vector<std::string> vary, also;
  int64_t seeds = 5, jobs = 1;
  std::string out;
};

Variation parse_variation(const std::string& text) {
  const size_t equals = text.find('=');
  require(equals != std::string::npos && equals > 0, ErrorKind::InvalidArgument, "--vary ", text,
          ": expected key=a,b,c, for example model.name=attention,plain");
  return {text.substr(0, equals), split_values(text.substr(equals + 1))};
}

void run_compare(const CompareFlags& flags) {
  CompareRequest request;
  request.make_setup = [&] { return make_setup(flags); };
  request.seeds = flags.seeds;
  request.jobs = flags.jobs;
  for (const std::string& text : flags.vary) request.variations.push_back(parse_variation(text));
  for (const std::string& text : flags.also) {
    require(text.find('=') != std::string::npos, ErrorKind::InvalidArgument, "--also ", text,
            ": expected key=value, for example model.attention=none");
    request.also.push_back(text);
  }
  int64_t total = 1;
  for (const Variation& variation : request.variations)
    total *= static_cast<int64_t>(variation.values.size());
  total = (total + static_cast<int64_t>(flags.also.size())) * flags.seeds;
  catch_interrupts();
  request.should_stop = was_interrupted;
  Comparison comparison;
  {
    Progress progress("comparing", total, "trainings", flags.quiet);
    request.progress = [&](int64_t done, int64_t, const std::string& now) {
      progress.update(done, now);
    };
    comparison = compare(request);
  }
  const std::optional<LineChart> chart = comparison.chart();
  if (!flags.out.empty()) {
    make_folder(flags.out);
    write_json_file(std::filesystem::path(flags.out) / "compare.json", comparison.to_json());
    write_file(std::filesystem::path(flags.out) / "compare.md", comparison.table().markdown());
    if (chart) write_chart(*chart, std::filesystem::path(flags.out) / "length.svg");
  }
  if (flags.json) {
    std::cout << comparison.to_json().dump(2) << "\n";
    return;
  }
  std::cerr << "mean ± half of the 95 % interval over " << flags.seeds << " seeds, "
            << comparison.split << " rows\n";
  std::cout << comparison.table().plain();
  if (chart) std::cout << "\n" << render_chart_terminal(*chart, terminal_of_user());
}

}  // namespace

void add_compare(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "compare", "trains a grid of options over several seeds and prints means and intervals");
  auto flags = std::make_shared<CompareFlags>();
  add_train_flags(*command, *flags);
  command->add_option("--vary", flags->vary, "key=a,b,c; give it again to vary more")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--also", flags->also, "one more row beside the grid: key=value")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--seeds", flags->seeds, "trainings of each combination")
      ->check(CLI::Range(1, 10000));
  command->add_option("--jobs", flags->jobs, "trainings at the same time")
      ->check(CLI::Range(1, 1024));
  command->add_option("--out", flags->out,
                      "folder for compare.json, compare.md and, for sequences, length.svg");
  command->footer(
      "Examples:\n  fovea compare features --vary model.name=attention,plain,linear --seeds 5\n"
      "  fovea compare dates --vary model.alignment=global,local-m,local-p --also "
      "model.attention=none --seeds 3");
  command->callback([flags] { run_compare(*flags); });
}

}  // namespace fovea::cli
