// A run, ready to answer. The program, the server, the report and the contract tests call only
// this.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "fovea/core/predictor.h"
#include "fovea/tasks/setup.h"

namespace fovea {

class Pipeline : public Predictor {
 public:
  /// Loads config, assets and weights; each missing or damaged file has its own error.
  /// `assignments` ("decoding.beam=5") change how answers are searched for, never the weights.
  static Pipeline load(const std::filesystem::path& run, const std::string& device = "cpu",
                       const std::vector<std::string>& assignments = {});

  const std::string& task_name() const { return setup_.task_name(); }
  const Setup& setup() const { return setup_; }
  Setup& setup() { return setup_; }
  const Model& model() const { return *model_; }
  const RunFolder& folder() const { return folder_; }

  Example parse(const std::string& line) const { return setup_.task().parse(line); }
  std::vector<Prediction> predict(std::span<const Example> examples) const override;
  at::Tensor replay(const Example& example, const Prediction& prediction, Tap& tap) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;

  /// The run's own data, or `path` read with the run's encodings (a file without a split column is
  /// all test rows).
  Splits load_data(const std::string& path, const std::vector<std::string>& columns = {},
                   const std::string& target_path = "");
  Metrics measure(const Dataset& rows) const { return setup_.task().measure(*model_, rows); }
  Explanation explain(const Example& example) const;
  Explanation overview(const Dataset& rows) const { return setup_.task().overview(*model_, rows); }

 private:
  Pipeline(RunFolder folder, Setup setup) : folder_(std::move(folder)), setup_(std::move(setup)) {}
  RunFolder folder_;
  Setup setup_;
  std::unique_ptr<Model> model_;
};

/// Weights checked against their own checksum. BadData when a byte changed.
std::map<std::string, at::Tensor> read_weights(const RunFolder& folder);

}  // namespace fovea
