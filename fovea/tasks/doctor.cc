#include "fovea/tasks/doctor.h"

#include <functional>
#include <optional>

#include "fovea/core/error.h"
#include "fovea/core/torch.h"
#include "fovea/tasks/hugging_face.h"
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

/// Which weights of a map are not on padding [B, Q, K]; undefined when nothing is padded.
at::Tensor keep_of(const AttentionMap& map, const Batch& batch, const Tap& tap) {
  if (!batch.has(map.key_axis + ".keep")) return {};
  at::Tensor keys = batch.at(map.key_axis + ".keep");  // [B, K]
  const auto leaf = tap.leaves().find(map.key_axis);
  if (leaf != tap.leaves().end() && !leaf->second.unit_of.empty())  // several inputs are one key
    keys = at::zeros({keys.size(0), map.weights.size(3)}, at::kLong)
               .index_add(1, torch::tensor(leaf->second.unit_of), keys.to(at::kLong))
               .gt(0);
  return keys.unsqueeze(1).expand({keys.size(0), map.weights.size(2), keys.size(1)});
}

std::string check_maps(const Model& model, const Batch& batch, std::string& detail) {
  Tap tap;
  model.replay(batch, model.predict(batch), &tap);
  for (const AttentionMap& map : tap.maps()) {
    detail += concat(detail.empty() ? "" : ", ", map.name, " (", name_of(map.kind), ")");
    if (const std::string problem = check_map(map, keep_of(map, batch, tap)); !problem.empty())
      return map.name + ": " + problem;
  }
  if (tap.maps().empty()) detail = "this model has no attention";
  return "";
}

std::string check_paths(const Model& model, const Batch& batch, std::string& detail) {
  const Predictions answers = model.predict(batch);
  Tap tap;
  const at::Tensor replayed = model.replay(batch, answers, &tap).cpu();  // [B, U]
  at::Tensor predicted, again = replayed;
  if (!answers.outputs.empty()) {
    std::vector<double> sums;  // of one output each
    for (const auto& outputs : answers.outputs) sums.push_back(outputs[0].log_probability);
    predicted = torch::tensor(sums, torch::kFloat64);
    again = replayed.to(torch::kFloat64).sum(1);
  } else if (answers.scores.defined()) {
    predicted = std::get<0>(answers.scores.max(1, true)).log().cpu();
  } else {
    predicted = answers.values.cpu();
  }
  const double difference = (again - predicted).abs().max().item<double>();
  detail = concat("largest difference ", format_number(difference, 2));
  return difference < 1e-4
             ? ""
             : "the fast and the readable path disagree by " + format_number(difference, 3);
}

}  // namespace

std::vector<Check> examine(const std::filesystem::path& run) {
  std::vector<Check> checks;
  const bool is_ours = !is_hugging_face(run);
  checks.push_back(check("config", [&](std::string& detail) {
    const Setup setup = setup_of(run);
    detail = concat("task ", setup.task_name(), ", ",
                    is_ours ? concat("run format ", kRunFormatVersion) : "a Hugging Face folder");
    return std::string();
  }));
  checks.push_back(check("manifest", [&](std::string& detail) {
    if (is_ours) return check_manifest(RunFolder(run), detail);
    detail = "skipped: a Hugging Face folder has none, so changed files cannot be told";
    return std::string();
  }));
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
