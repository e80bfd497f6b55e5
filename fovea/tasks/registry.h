// The zoo: one row per task.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "fovea/tasks/task.h"

namespace fovea {

struct TaskRow {
  std::string name;
  std::string summary;
  std::string models;     // names for model.name, the default first
  std::string attention;  // who looks at what
  std::string files;      // what a DATA file or folder holds
  std::unique_ptr<Task> (*make)();
};

std::span<const TaskRow> task_table();

/// NotFound names the nearest task.
const TaskRow& find_task(const std::string& name);

}  // namespace fovea
