#include "fovea/tasks/doctor.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/media_input.h"
#include "fovea/models/language_model.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/train.h"
#include "fovea/tasks/version.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsToCheck = 256, kRowsToContinue = 2;

/// What a file says, for a line on a terminal.
std::string shown_name(const std::string& text) {
  constexpr size_t kMostBytes = 100;
  return printable(shorten_bytes(text, kMostBytes));
}

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

/// The inputs that a server offers. They may be changed, so that no hash holds them.
void check_examples(const RunFolder& folder) {
  const std::filesystem::path path = folder.asset("examples.json");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  require(std::filesystem::is_regular_file(path, ignored), ErrorKind::BadData, path.string(),
          ": is no plain file");
  require(read_json_file(path).is_array(), ErrorKind::BadData, path.string(),
          ": is no list of inputs; a list, or no such file, is needed");
}

std::string check_manifest(const RunFolder& folder, std::string& detail) {
  folder.read_config();  // and that no pipe lies in the place of a file, which might have no end
  const Json manifest = read_json_file(folder.manifest());
  const Field root = Field::root(manifest, folder.manifest().string());
  const auto made_by = [&](const char* key) {
    const auto found = root.find(key);
    return found ? shown_name(found->text()) : std::string("?");
  };
  detail = concat("made by fovea ", made_by("fovea"), " with LibTorch ", made_by("libtorch"),
                  "; this is ", version(), " with ", TORCH_VERSION);
  if (const auto answers = root.find("answers"))
    if (const auto temperature = answers->find("temperature"))
      detail += concat("; probabilities at temperature ", format_number(temperature->finite(), 4));
  check_run(folder);
  check_examples(folder);
  return "";
}

/// As --resume would read it.
TrainerState check_checkpoint(const RunFolder& folder, const Setup& setup, const Dataset* rows,
                              std::string& detail) {
  require(std::filesystem::exists(folder.last()), ErrorKind::NotFound, "last.safetensors",
          " is missing; the run answers but cannot be resumed");
  const std::unique_ptr<Model> model = setup.task().make_model();
  Optimiser optimiser(*model, setup.training(), /*steps_per_epoch=*/1);
  const TrainerState state = read_checkpoint(folder, *model, optimiser);
  require(rows == nullptr || state.position <= rows->size(), ErrorKind::BadData,
          folder.last().string(), ": stopped after ", state.position,
          " rows of an epoch, there are ", rows ? rows->size() : 0);
  detail = concat("after epoch ", state.epoch,
                  state.position > 0 ? concat(" and ", format_count(state.position), " rows") : "",
                  ", ", format_count(optimiser.steps()), " steps");
  return state;
}

/// One whole line per report of the checkpoint, after every training.evaluate_epochs epochs; what a
/// killed training wrote after it may follow.
std::string check_metrics(const RunFolder& folder, const TrainerState& state, std::string& detail) {
  const std::string content = read_file(folder.metrics());
  const bool each_epoch = state.reports == state.epoch;
  int64_t lines = 0, epoch = 0, reports = 0;
  size_t begin = 0;
  for (size_t end = 0; (end = content.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string place = concat(folder.metrics().string(), ":", ++lines);
    const SortedJson line = parse_json_row(std::string_view(content).substr(begin, end - begin),
                                           place, "{\"epoch\": 1}");
    const auto number = line.find("epoch");
    if (number == line.end() || !number->is_number_integer() || *number <= epoch ||
        (each_epoch && *number != epoch + 1))
      return concat(place, ": is not the line of ",
                    each_epoch ? concat("epoch ", epoch + 1) : concat("an epoch after ", epoch));
    epoch = *number;
    if (epoch <= state.epoch) ++reports;
  }
  if (reports < state.reports)
    return concat("metrics.jsonl has ", reports, " lines, the checkpoint ", state.reports,
                  " reports");
  detail = concat(epoch, epoch == 1 ? " epoch" : " epochs");
  if (lines < epoch) detail += concat(", ", lines, lines == 1 ? " report" : " reports");
  if (epoch > state.epoch) detail += concat(", of which --resume repeats ", epoch - state.epoch);
  if (begin < content.size()) detail += ", and a half-written line, which --resume cuts off";
  return "";
}

/// The rows that the checks look at, as one batch.
Batch some_rows(const Splits& splits, int64_t most, std::string& detail) {
  const auto rows = splits.validation ? splits.validation : splits.train;
  std::vector<int64_t> picked;
  for (int64_t row = 0; row < std::min(most, rows->size()); ++row) picked.push_back(row);
  detail = concat(picked.size(), " rows of ", splits.validation ? "validation" : "training");
  return rows->batch(picked);
}

/// Which weights of a map are not on padding [B, Q, K]; undefined when nothing is padded.
at::Tensor keep_of(const AttentionMap& map, const Batch& batch, const Tap& tap) {
  if (!batch.has(map.key_axis + ".keep")) return {};
  at::Tensor keys = batch.at(map.key_axis + ".keep");  // [B, K]
  if (map.key_axis == map.query_axis && map.weights.size(3) > keys.size(1))
    return {};  // with what was written after them
  const auto leaf = tap.leaves().find(map.key_axis);
  if (leaf != tap.leaves().end() && !leaf->second.unit_of.empty())  // several inputs are one key
    keys = at::zeros({keys.size(0), map.weights.size(3)}, at::kLong)
               .index_add(1, torch::tensor(leaf->second.unit_of), keys.to(at::kLong))
               .gt(0);
  return keys.unsqueeze(1).expand({keys.size(0), map.weights.size(2), keys.size(1)});
}

/// A Hugging Face folder has no data of its own: a picture, a text, or a question about one, will
/// do.
Batch some_input(const Pipeline& pipeline, std::string& detail) {
  const Json schema = pipeline.task().input_schema();
  if (schema.contains("properties") && schema["properties"].contains("image")) {
    const Example example =
        pipeline.parse(image_input(encode_png(make_image(32, 32, 3, 128))).dump());
    detail = "a Hugging Face folder has none; a grey picture";
    return pipeline.task().collate({&example, 1});
  }
  const bool is_text = pipeline.task().takes_plain_text();
  const Example example =
      pipeline.parse(is_text ? "A short text, to see what comes of it."
                             : "What comes of it?\tA short text, to see what comes of it.");
  detail = "a Hugging Face folder has none; a text of ours";
  return pipeline.task().collate({&example, 1});
}

/// Of a text that is to be continued, so much that there is room.
void shorten_prompts(const Model& model, Batch& batch) {
  const auto* language = dynamic_cast<const LanguageModel*>(&model);
  if (!language) return;
  const int64_t most = std::max<int64_t>(1, language->options().maximum_length / 2);
  for (const char* name : {"tokens", "tokens.keep"}) {
    at::Tensor& numbers = batch.tensors.at(name);  // [B, N]
    numbers = numbers.narrow(1, 0, std::min(most, numbers.size(1)));
  }
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
    std::vector<std::string> assignments;
    if (setup_of(run).task_name() == "language")  // a few tokens are enough
      assignments.push_back("decoding.maximum_length=16");
    pipeline.emplace(Pipeline::load(run, "cpu", assignments));
    int64_t count = 0;
    for (const at::Tensor& parameter : pipeline->model().parameters()) count += parameter.numel();
    detail = concat(format_count(count), " parameters, all finite");
    return std::string();
  }));
  if (!pipeline) return checks;
  torch::NoGradGuard no_gradients;
  std::optional<Batch> batch;
  Splits splits;
  const Check data = check("data", [&](std::string& detail) {
    if (!is_ours) {
      batch = some_input(*pipeline, detail);
      shorten_prompts(pipeline->model(), *batch);
      return std::string();
    }
    splits = pipeline->load_data("");
    batch = some_rows(splits, generates(*pipeline) ? kRowsToContinue : kRowsToCheck, detail);
    check_batch(*batch, pipeline->model().schema());
    shorten_prompts(pipeline->model(), *batch);
    return std::string();
  });
  if (is_ours) {
    const RunFolder folder(run);
    std::optional<TrainerState> state;
    checks.push_back(check("checkpoint", [&](std::string& detail) {
      state = check_checkpoint(folder, pipeline->setup(), splits.train.get(), detail);
      return std::string();
    }));
    checks.push_back(check("metrics", [&](std::string& detail) {
      return check_metrics(folder, state.value_or(TrainerState{}), detail);
    }));
  }
  checks.push_back(data);
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
