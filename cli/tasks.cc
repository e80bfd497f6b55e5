#include <iostream>

#include "cli/program.h"
#include "fovea/base/text.h"
#include "fovea/tasks/setup.h"

namespace fovea::cli {

namespace {

struct TasksFlags {
  std::string task, model;
  bool options = false, markdown = false;
};

std::string task_options(const std::string& task, const std::string& model, bool markdown) {
  Setup setup(task);
  if (!model.empty()) setup.set("model.name", model);
  return markdown ? setup.options().markdown() : setup.options().help_text();
}

/// Of every task, and of every model that has options of its own.
void print_all_options(bool markdown) {
  const char* before = markdown ? "\n## " : "\n";
  for (const TaskRow& row : task_table()) {
    const std::vector<std::string> models = make_task(row.name)->option_lists();
    for (const std::string& model : models)
      std::cout << before << row.name << ", model.name=" << model << "\n\n"
                << task_options(row.name, model, markdown);
    if (models.empty())
      std::cout << before << row.name << "\n\n" << task_options(row.name, "", markdown);
  }
}

void run_tasks(const TasksFlags& flags) {
  if (flags.options) return print_all_options(flags.markdown);
  if (!flags.task.empty()) {
    std::cout << task_options(flags.task, flags.model, flags.markdown);
    if (!flags.markdown)
      std::cout << "\nsettings by name, --config NAME: " << join(make_task(flags.task)->configs())
                << "\n";
    return;
  }
  TextTable table({"task", "what it does", "models", "attention", "files"});
  for (const TaskRow& row : task_table())
    table.add(
        {row.name, row.summary, join(make_task(row.name)->models()), row.attention, row.files});
  std::cout << (flags.markdown ? table.markdown() : table.plain());
}

}  // namespace

void add_tasks(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "tasks", "the zoo: tasks with their models and file formats; options of one task");
  auto flags = std::make_shared<TasksFlags>();
  command->add_option("task", flags->task, "list every option of this task");
  command->add_option("--model", flags->model, "of this model of the task, where each has its own");
  command->add_flag("--options", flags->options, "every option of every task");
  command->add_flag("--markdown", flags->markdown, "as a table for documents");
  command->footer(
      "Examples:\n"
      "  fovea tasks\n"
      "  fovea tasks features\n"
      "  fovea tasks translate --model transformer");
  command->callback([flags] { run_tasks(*flags); });
}

}  // namespace fovea::cli
