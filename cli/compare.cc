#include <iostream>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/tasks/compare.h"

namespace fovea::cli {

namespace {

struct CompareFlags : TrainFlags {
  std::vector<std::string> vary, also;
  int64_t seeds = 5, jobs = 1;
  std::string out, keep;
};

Variation parse_variation(const std::string& text) {
  const size_t equals = text.find('=');
  require(equals != std::string::npos && equals > 0, ErrorKind::InvalidArgument, "--vary ", text,
          ": expected key=a,b,c, for example model.name=attention,plain");
  return {text.substr(0, equals), split_values(text.substr(equals + 1))};
}

namespace fs = std::filesystem;

/// The files of --out. compare.json is written last and removed first: where it is, all of them are
/// from one comparison.
class CompareFolder {
 public:
  /// Before anything is computed: Io or InvalidArgument when the files cannot be written.
  explicit CompareFolder(const fs::path& path) : path_(path), made_(make_folder(path)) {
    try {
      for (const char* name : {kJson, kTable, kChart}) check_output_file(path_ / name);
      const bool replaces = is_comparison(path_ / kJson);
      for (const char* name : {kJson, kTable, kChart})
        require(replaces || !fs::exists(path_ / name), ErrorKind::InvalidArgument,
                (path_ / name).string(),
                ": is not from a comparison and is not replaced; choose another --out");
    } catch (...) {
      remove_made();
      throw;
    }
  }
  /// Nothing was written: as if it had never been.
  ~CompareFolder() { remove_made(); }
  CompareFolder(const CompareFolder&) = delete;
  CompareFolder& operator=(const CompareFolder&) = delete;

  void write(const Comparison& comparison, const std::optional<LineChart>& chart) const {
    fs::remove(path_ / kJson);
    fs::remove(path_ / kChart);
    write_file(path_ / kTable, comparison.table().markdown());
    if (chart) write_chart(*chart, path_ / kChart);
    write_json_file(path_ / kJson, comparison.to_json());
  }

 private:
  static constexpr const char *kJson = "compare.json", *kTable = "compare.md",
                              *kChart = "length.svg";

  static bool is_comparison(const fs::path& path) {
    try {
      if (!fs::exists(path)) return false;
      const Json json = read_json_file(path);
      return json.is_object() && json.value("format", Json()) == "fovea-comparison";
    } catch (const Error&) {
      return false;
    }
  }
  void remove_made() const {  // those that are empty
    std::error_code ignored;
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder)
      if (fs::is_empty(*folder, ignored)) fs::remove(*folder, ignored);
  }

  fs::path path_;
  std::vector<fs::path> made_;
};

void run_compare(const CompareFlags& flags) {
  CompareRequest request;
  request.make_setup = [&] { return make_setup(flags); };
  request.seeds = flags.seeds;
  request.jobs = flags.jobs;
  request.keep = flags.keep;
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
  std::optional<CompareFolder> folder;
  if (!flags.out.empty()) folder.emplace(flags.out);
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
  if (flags.json) {
    std::cout << comparison.to_json().dump(2) << "\n";
  } else {
    std::cerr << "mean ± half of the 95 % interval over " << flags.seeds << " seeds, "
              << comparison.split << " rows\n";
    std::cout << comparison.table().plain();
    if (const std::string verdict = comparison.verdict(); !verdict.empty()) tell(verdict);
    if (chart) std::cout << "\n" << render_chart_terminal(*chart, user_terminal());
  }
  // Last: should the disk be full by now, the result has been seen.
  if (folder) folder->write(comparison, chart);
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
  command->add_option("--keep", flags->keep,
                      "folder for the trained models themselves, a run each");
  command->footer(
      "Examples:\n"
      "  fovea compare features --config tutorial --vary model.name=tutorial,tutorial-plain "
      "--seeds 2\n"
      "  fovea compare features --vary training.learning_rate=0.001,0.01 --set data.rows=500 "
      "--epochs 2 --seeds 2 --out rates\n"
      "  fovea compare context --config tutorial --vary data.rows=500,1000 --seeds 2");
  command->callback([flags] { run_compare(*flags); });
}

}  // namespace fovea::cli
