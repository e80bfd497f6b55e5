#include "fovea/tasks/registry.h"

#include "fovea/core/error.h"
#include "fovea/tasks/context.h"
#include "fovea/tasks/features.h"

namespace fovea {

namespace {

template <class Kind>
std::unique_ptr<Task> make() {
  return std::make_unique<Kind>();
}

const TaskRow kTasks[] = {
    {"features", "predict a column of a table from the others", "attention, plain, linear",
     "prediction -> columns", "CSV or TSV with a header; the target column is named by --target",
     make<FeaturesTask>},
    {"context", "a context picks the position that matters", "free, softmax",
     "context -> positions", "CSV or TSV with a header: context, one column per position, y",
     make<ContextTask>},
};

}  // namespace

std::span<const TaskRow> task_table() {
  return kTasks;
}

const TaskRow& find_task(const std::string& name) {
  std::vector<std::string> names;
  for (const TaskRow& row : kTasks) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  fail(ErrorKind::NotFound, "there is no task '", name, "'", suggestion(name, names),
       "; there are: ", join(names));
}

}  // namespace fovea
