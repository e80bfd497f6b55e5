// A run as the server serves it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/serving/served_model.h"

namespace fovea::serving {

struct PipelineOptions {
  std::string device = "cpu";
  int threads = 1;                       // of LibTorch, for each model
  std::vector<std::string> assignments;  // "decoding.beam=5"
};

/// Reads the run's config at once, so that a wrong path is an error before the server starts; the
/// rest is read by load(). `name` may be empty: the name of the run's folder.
ModelSource source_of_run(const std::filesystem::path& run, const std::string& name,
                          const PipelineOptions& options);

/// Whether the run has the option of that assignment ("decoding.beam=5").
bool run_has_option(const std::filesystem::path& run, const std::string& assignment);

}  // namespace fovea::serving
