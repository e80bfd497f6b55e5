// From options to a run folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/tasks/setup.h"
#include "fovea/tasks/train.h"

namespace fovea::testing {

using Assignments = std::vector<std::string>;  // "data.rows=40"

/// The task with these options, and then with `more`.
inline Setup setup_of(const std::string& task, const Assignments& options,
                      const Assignments& more = {}) {
  Setup setup(task);
  for (const Assignments* list : {&options, &more})
    for (const std::string& assignment : *list) setup.set(assignment);
  return setup;
}

/// Trains into a new folder.
inline Training train_run(Setup setup, const std::filesystem::path& run) {
  RunFolder folder(run);
  TrainRequest request;
  request.folder = &folder;
  return train(setup, request);
}

}  // namespace fovea::testing
