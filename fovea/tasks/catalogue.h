// The catalogue: one row per task, and what programs outside of the library add to it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/tasks/task.h"

namespace fovea {

struct TaskRow {
  std::string name;
  std::string summary;
  std::string attention;  // who looks at what
  std::string files;      // what a DATA file or folder holds
  std::function<std::unique_ptr<Task>()> make;
  std::string former_name = {};  // that it had before: asked for, it is answered with the new one
};

/// In the order of the catalogue, then of registration.
const std::vector<TaskRow>& task_table();

/// Adds a task, before any other thread uses the library. InvalidArgument for a name that is taken.
void register_task(TaskRow row);

/// Adds a network to a task. `make` is called for each Setup of the task, and may ask it for
/// sizes() when a model is made.
void register_model(const std::string& task, std::function<ModelSpec(const Task& task)> make);

/// A task with its registered networks. NotFound names the nearest task.
std::unique_ptr<Task> make_task(const std::string& name);

}  // namespace fovea
