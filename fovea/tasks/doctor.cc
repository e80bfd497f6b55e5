#include "fovea/tasks/doctor.h"

#include <torch/torch.h>

#include <functional>
#include <optional>

#include "fovea/core/error.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/version.h"

namespace fovea {

namespace {

constexpr int64_t kRowsToCheck = 256;

/// A check is a function that fills in the detail and throws or returns what is wrong.
Check check(const std::string& name, const std::function<std::string(std::string& detail)>& look) {
  Check result{name, "", ""};
  try {
    result.problem = look(result.detail);
  } catch (const std::exception& error) {
    result.problem = error.what();
    result.problem = result.problem.substr(0, result.problem.find('\n'));
  }
  return result;
}

std::string check_manifest(const RunFolder& folder, std::string& detail) {
  const Json manifest = read_json_file(folder.manifest());
  detail =
      concat("made by fovea ", manifest.value("fovea", "?"), " with LibTorch ",
             manifest.value("libtorch", "?"), "; this is ", version(), " with ", TORCH_VERSION);
  const Json files = manifest.value("files", Json::object());
  for (const auto& [file, hash] : files.items()) {
    if (!std::filesystem::exists(folder.path() / file)) return file + " is missing";
    if (hash_of_file(folder.path() / file) != hash.get<std::string>())
      return file + " changed since training began";
  }
  return "";
}

/// The rows that the checks look at, as one batch.
Batch some_rows(Pipeline& pipeline, std::string& detail) {
  const Splits splits = pipeline.load_data("");
  const auto rows = splits.validation ? splits.validation : splits.train;
  std::vector<int64_t> picked;
  for (int64_t row = 0; row < std::min(kRowsToCheck, rows->size()); ++row) picked.push_back(row);
  detail = concat(picked.size(), " rows of ", splits.validation ? "validation" : "training");
  return rows->batch(picked);
}

std::string check_maps(const Model& model, const Batch& batch, std::string& detail) {
  Tap tap;
  model.replay(batch, model.predict(batch), &tap);
  for (const AttentionMap& map : tap.maps()) {
    detail += concat(detail.empty() ? "" : ", ", map.name, " (", name_of(map.kind), ")");
    if (const std::string problem = check_map(map); !problem.empty())
      return map.name + ": " + problem;
  }
  if (tap.maps().empty()) detail = "this model has no attention";
  return "";
}

std::string check_paths(const Model& model, const Batch& batch, std::string& detail) {
  const Predictions answers = model.predict(batch);
  Tap tap;
  const at::Tensor replayed = model.replay(batch, answers, &tap).squeeze(1);  // [B]
  const at::Tensor predicted = answers.scores.defined() ? std::get<0>(answers.scores.max(1)).log()
                                                        : answers.values.squeeze(1);
  const double difference = (replayed - predicted).abs().max().item<double>();
  detail = concat("largest difference ", format_number(difference, 2));
  return difference < 1e-4
             ? ""
             : "the fast and the readable path disagree by " + format_number(difference, 3);
}

}  // namespace

std::vector<Check> examine(const std::filesystem::path& run) {
  std::vector<Check> checks;
  const RunFolder folder(run);
  checks.push_back(check("config", [&](std::string& detail) {
    const Setup setup = Setup::from_config(folder.read_config(), folder.config().string());
    detail = concat("task ", setup.task_name(), ", run format ", kRunFormatVersion);
    return std::string();
  }));
  checks.push_back(
      check("manifest", [&](std::string& detail) { return check_manifest(folder, detail); }));
  std::optional<Pipeline> pipeline;
  checks.push_back(check("weights", [&](std::string& detail) {
    pipeline.emplace(Pipeline::load(run));
    int64_t count = 0;
    for (const at::Tensor& parameter : pipeline->model().parameters()) count += parameter.numel();
    detail = concat(format_count(count), " parameters, all finite");
    return std::string();
  }));
  if (!pipeline) return checks;
  torch::NoGradGuard no_gradients;
  std::optional<Batch> batch;
  checks.push_back(check("data", [&](std::string& detail) {
    batch = some_rows(*pipeline, detail);
    check_batch(*batch, pipeline->model().schema());
    return std::string();
  }));
  if (!batch) return checks;
  checks.push_back(check("attention", [&](std::string& detail) {
    return check_maps(pipeline->model(), *batch, detail);
  }));
  checks.push_back(check("paths", [&](std::string& detail) {
    return check_paths(pipeline->model(), *batch, detail);
  }));
  return checks;
}

}  // namespace fovea
