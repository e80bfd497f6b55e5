#include "fovea/tasks/catalogue.h"

#include "fovea/base/error.h"

namespace fovea {

// The table: one row for each NAME_task().
#define FOVEA_TASKS(row)                                                                          \
  row(features) row(context) row(dates) row(translate) row(forecast) row(pretrain) row(documents) \
      row(tag) row(questions) row(choices) row(ratings) row(graph) row(caption) row(speech)       \
          row(images) row(prefetch) row(visits) row(copy) row(language)

#define FOVEA_DECLARE(name) TaskRow name##_task();
FOVEA_TASKS(FOVEA_DECLARE)
#undef FOVEA_DECLARE

namespace {

std::vector<TaskRow>& rows() {
#define FOVEA_ROW(name) name##_task(),
  static std::vector<TaskRow> all = {FOVEA_TASKS(FOVEA_ROW)};
#undef FOVEA_ROW
  return all;
}

using AddedModel = std::pair<std::string, std::function<ModelSpec(const Task&)>>;

std::vector<AddedModel>& added_models() {
  static std::vector<AddedModel> all;
  return all;
}

const TaskRow& find_task(const std::string& name) {
  std::vector<std::string> names;
  for (const TaskRow& row : rows()) {
    if (row.name == name) return row;
    require(row.former_name != name || name.empty(), ErrorKind::NotFound, "the task '", name,
            "' is now called '", row.name, "'");
    names.push_back(row.name);
  }
  const bool is_file = name.find_first_of("./") != std::string::npos;
  fail(ErrorKind::NotFound, "there is no task '", name, "'",
       is_file ? concat(" (the task comes before the data: features ", name, ")")
               : suggestion(name, names),
       "; there are: ", join(names));
}

}  // namespace

const std::vector<TaskRow>& task_table() {
  return rows();
}

void register_task(TaskRow row) {
  for (const TaskRow& known : rows())
    require(known.name != row.name, ErrorKind::InvalidArgument, "there is a task '", row.name,
            "' already");
  rows().push_back(std::move(row));
}

void register_model(const std::string& task, std::function<ModelSpec(const Task&)> make) {
  find_task(task);
  added_models().emplace_back(task, std::move(make));
}

std::unique_ptr<Task> make_task(const std::string& name) {
  std::unique_ptr<Task> task = find_task(name).make();
  for (const auto& [of, make] : added_models())
    if (of == name) task->add_model(make(*task));
  return task;
}

}  // namespace fovea
