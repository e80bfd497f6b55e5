#include <iostream>

#include "cli/program.h"
#include "fovea/core/text.h"
#include "fovea/tasks/setup.h"

namespace fovea::cli {

void add_tasks(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "tasks", "the zoo: tasks with their models and file formats; options of one task");
  auto name = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  command->add_option("task", *name, "list every option of this task");
  command->add_flag("--markdown", *markdown, "as a table for documents");
  command->footer("Example:  fovea tasks features");
  command->callback([=] {
    if (!name->empty()) {
      Setup setup(*name);
      std::cout << (*markdown ? setup.options().markdown() : setup.options().help_text());
      return;
    }
    TextTable table({"task", "what it does", "models", "attention", "files"});
    for (const TaskRow& row : task_table())
      table.add({row.name, row.summary, row.models, row.attention, row.files});
    std::cout << (*markdown ? table.markdown() : table.plain());
  });
}

}  // namespace fovea::cli
