#include <iostream>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"

namespace fovea::cli {

void add_data(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "data", "writes a task's built-in data as plain files, to see the format");
  auto task = std::make_shared<std::string>();
  auto out = std::make_shared<std::string>();
  auto assignments = std::make_shared<std::vector<std::string>>();
  auto locales = std::make_shared<std::vector<std::string>>();
  command->add_option("task", *task, "which task")->required();
  command->add_option("--out", *out, "folder to write into")->required();
  command->add_option("--set", *assignments, "one option, key=value, for example data.rows=1000")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--locales", *locales, "dates: ICU locales such as en,de,fr, or all")
      ->delimiter(',');
  command->footer(
      "Examples:\n"
      "  fovea data features --set data.rows=1000 --out data/features\n"
      "  fovea data dates --set data.rows=500 --out data/dates\n"
      "  fovea data tag --out data/tag");
  command->callback([=] {
    Setup setup(*task);
    if (!locales->empty()) setup.set("data.locales", join(*locales, ","));
    for (const std::string& assignment : *assignments) setup.set(assignment);
    AtomicFolder folder(*out);
    setup.task().write_data(folder.path());
    folder.commit();
    put_line(*out);
  });
}

}  // namespace fovea::cli
