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

/// Which maps a model's explanations have: learned from one of them, it tells how many weights
/// another will have.
class ExplanationShape {
 public:
  /// `first` has all heads.
  explicit ExplanationShape(const Explanation& first);

  /// Of the example, as its axes say. An axis that it does not have, since it is of the output,
  /// counts as one unit.
  int64_t weights(const Example& example, const HeadChoice& choice) const;

 private:
  struct Map {
    std::string query_axis, key_axis;
    int64_t layer = 0, head = 0;
    bool of_stack = false;     // rollout or flow: only with the whole
    double weights_per_query;  // of layouts other than dense; else 0
  };
  std::vector<Map> maps_;
};

}  // namespace fovea::serving
