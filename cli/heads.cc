#include <filesystem>
#include <iostream>

#include "cli/flags.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/explain/draw/picture.h"
#include "fovea/explain/heads/report.h"
#include "fovea/explain/record/json.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/prune_heads.h"

namespace fovea::cli {

namespace {

struct HeadsFlags : RowFlags {
  std::string out;
  int64_t rows = 100;
  bool no_zeroing = false, quiet = false;
};

HeadReport head_report(const Pipeline& pipeline, const ExampleSource& rows,
                       const HeadsFlags& flags) {
  HeadReport report;
  report.rows = rows.size;
  {
    Progress progress("statistics", rows.size, "rows", flags.quiet);
    HeadOptions options;
    options.progress = [&](int64_t done) { progress.update(done); };
    report.statistics = measure_heads(pipeline, rows, options);
    for (const int64_t length : {32, 8})
      if (const auto repeated = repeated_example(pipeline, length, /*seed=*/0)) {
        measure_induction(pipeline, *repeated, length, report.statistics);
        break;
      }
  }
  Progress progress("importance", rows.size, "rows", flags.quiet);
  ImportanceOptions options;
  options.zeroing = !flags.no_zeroing;
  options.progress = [&](int64_t done) { progress.update(done); };
  report.importance = measure_importance(pipeline, rows, options);
  const Example first = rows.example(0);
  report.of_values = pipeline.predict({&first, 1}).front().values.defined();
  return report;
}

void run_heads(HeadsFlags& flags) {
  if (!flags.out.empty()) check_output_file(flags.out);
  Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  const auto data = choose_rows(pipeline, flags);
  const HeadReport report = head_report(pipeline, spread_rows(*data, flags.rows), flags);
  const auto folder = std::filesystem::absolute(flags.run).lexically_normal();
  const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename();
  const std::string title = concat(name, ", ", pipeline.task_name());
  Json json = heads_to_json(report);
  json["task"] = pipeline.task_name();
  json["split"] = flags.split;
  if (std::filesystem::path(flags.out).extension() == ".json")
    write_json_file(flags.out, json);
  else if (!flags.out.empty())
    write_picture(explain_heads(report, title, /*everything=*/true), flags.out);
  if (flags.json) {
    std::cout << json.dump() << "\n";
    return;
  }
  std::cout << render_terminal(explain_heads(report, title, /*everything=*/false), user_terminal())
            << "\n"
            << head_table(report).plain();
}

}  // namespace

void add_heads(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "heads", "what each attention head of a run does, and how much the run needs it");
  auto flags = std::make_shared<HeadsFlags>();
  command->add_option("run", flags->run, "folder made by fovea train, or a Hugging Face folder")
      ->required();
  command->add_option("data", flags->data, "file or folder; none: the run's own data");
  command->add_option("--rows", flags->rows, "rows to measure on, evenly spread (default 100)")
      ->check(above_zero());
  command->add_option("--out", flags->out,
                      "also write .html (all measures as heat maps), .svg, .png or .json");
  command->add_flag("--no-zeroing", flags->no_zeroing,
                    "leave out what the run loses without each head, which takes a pass per head");
  command->add_flag("--quiet", flags->quiet, "no progress on standard error");
  add_row_flags(*command, *flags);
  command->footer(
      "Examples:\n"
      "  fovea heads runs/tag\n"
      "  fovea heads runs/tag --rows 20 --out heads.html\n"
      "  fovea heads runs/tag --rows 20 --json");
  command->callback([flags] { run_heads(*flags); });
}

}  // namespace fovea::cli
