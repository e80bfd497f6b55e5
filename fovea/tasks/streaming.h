// A task whose inputs are one endless row of events. `fovea predict --input FILE` hands it the file
// and prints what comes back, while the file is still being read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fovea/models/model.h"

namespace fovea {

struct StreamReport {
  int64_t events = 0;       // read
  int64_t predictions = 0;  // answers given
  double seconds = 0;
  std::vector<std::string> notes;
};

class StreamingTask {
 public:
  virtual ~StreamingTask() = default;

  /// Answers the events of a file of any size, in order, one line each; `json`: as JSON objects.
  virtual StreamReport stream(const Model& model, const std::filesystem::path& path, bool json,
                              const std::function<void(const std::string& line)>& answer) const = 0;
};

}  // namespace fovea
