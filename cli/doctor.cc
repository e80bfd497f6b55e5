#include "fovea/tasks/doctor.h"

#include <iostream>

#include "cli/interrupt.h"
#include "cli/program.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"

namespace fovea::cli {

void add_doctor(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "doctor", "checks a run: files, weights, attention invariants, fast against readable path");
  auto run = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("run", *run, "folder made by fovea train, or a Hugging Face folder")
      ->required();
  command->add_flag("--json", *json, "the result as one JSON value");
  command->footer(
      "Examples:\n"
      "  fovea doctor runs/first\n"
      "  fovea doctor runs/first --json\n"
      "  fovea doctor runs/tag");
  command->callback([=] {
    bool healthy = true;
    Json list = Json::array();
    TextTable table({"check", "result", "detail"});
    for (const Check& check : examine(*run)) {
      const bool fine = check.problem.empty();
      healthy = healthy && fine;
      table.add({check.name, fine ? "ok" : "FAILED", fine ? check.detail : check.problem});
      list.push_back(
          {{"check", check.name}, {"ok", fine}, {"detail", fine ? check.detail : check.problem}});
    }
    if (*json)
      std::cout << Json{{"healthy", healthy}, {"checks", list}}.dump(2) << "\n";
    else
      std::cout << table.plain();
    if (!healthy) throw Failed();
  });
}

}  // namespace fovea::cli
