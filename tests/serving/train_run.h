// A small run to serve.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/tasks/setup.h"
#include "fovea/tasks/train.h"

namespace fovea::testing {

inline void train_run(const std::string& task, const std::vector<std::string>& assignments,
                      const std::filesystem::path& path) {
  Setup setup(task);
  for (const std::string& assignment : assignments) setup.set(assignment);
  RunFolder folder(path);
  TrainRequest request;
  request.folder = &folder;
  train(setup, request);
}

}  // namespace fovea::testing
