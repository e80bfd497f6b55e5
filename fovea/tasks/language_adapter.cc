#include "fovea/tasks/language_adapter.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/base/text.h"
#include "fovea/data/language/load.h"
#include "fovea/models/language_names.h"
#include "fovea/tasks/hugging_face_folder.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/run_folder.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr size_t kShownOfConfig = 200;  // of a value, in a message
constexpr int64_t kMostRank = 4096;

struct AdapterConfig {
  int64_t rank = 0;
  double alpha = 0, dropout = 0;
  std::vector<std::string> targets;  // empty: a pattern, the tensors tell
};

/// Adapters of these kinds compute something else.
void refuse_other_kinds(const Json& json, const std::string& where) {
  const auto expect = [&](const char* key, const std::vector<Json>& known) {
    if (!json.contains(key) || json[key].is_null()) return;
    const bool fits =
        std::any_of(known.begin(), known.end(), [&](const Json& one) { return json[key] == one; });
    require(fits, ErrorKind::Unsupported, where, ": '", key, "' is ",
            shorten_bytes(json[key].dump(), kShownOfConfig), "; only ", known[0].dump(),
            " is read");
  };
  expect("peft_type", {"LORA"});
  expect("task_type", {"CAUSAL_LM"});
  expect("bias", {"none"});
  expect("use_dora", {false});
  expect("use_qalora", {false});
  for (const char* key : {"rank_pattern", "alpha_pattern"}) expect(key, {Json::object()});
  for (const char* key : {"modules_to_save", "trainable_token_indices", "target_parameters"})
    expect(key, {Json::array()});
}

AdapterConfig read_config(const fs::path& folder) {
  const fs::path path = folder / kAdapterConfig;
  const Json json = read_json_file(path);
  const Field root = Field::root(json, path.string());
  root.expect(json.is_object(), "an object");
  refuse_other_kinds(json, path.string());
  AdapterConfig config;
  config.rank = root.at("r").integer(1, kMostRank);
  config.alpha = root.at("lora_alpha").finite();
  root.at("lora_alpha").expect(config.alpha > 0, "a number above 0");
  if (const auto dropout = root.find("lora_dropout")) config.dropout = dropout->finite();
  if (const auto scaled = root.find("use_rslora"); scaled && scaled->mark())
    config.alpha *= std::sqrt(double(config.rank));  // alpha / sqrt(r) there
  if (const auto targets = root.find("target_modules"); targets && targets->value().is_array())
    config.targets = targets->texts();
  return config;
}

/// The layers that the tensors belong to, with the name of the part that holds them: "attn.c_proj".
std::vector<std::string> adapted_targets(const WeightMap& tensors) {
  std::set<std::string> targets;
  for (const auto& [name, tensor] : tensors) {
    const size_t end = name.rfind(".lora_");
    if (end == std::string::npos) continue;
    const std::string layer = name.substr(0, end);
    const size_t dot = layer.rfind('.');
    const size_t part = dot == std::string::npos || dot == 0 ? dot : layer.rfind('.', dot - 1);
    targets.insert(part == std::string::npos ? layer : layer.substr(part + 1));
  }
  return {targets.begin(), targets.end()};
}

/// The chain with one more. BadData when it is there already.
std::vector<fs::path> followed(std::vector<fs::path> chain, const fs::path& adapter) {
  const fs::path own = fs::weakly_canonical(adapter);
  const bool is_there = std::find(chain.begin(), chain.end(), own) != chain.end();
  chain.push_back(own);
  if (!is_there) return chain;
  std::vector<std::string> names;
  for (const fs::path& one : chain) names.push_back(one.string());
  fail(ErrorKind::BadData, (own / kAdapterConfig).string(),
       chain.size() == 2 ? ": base_model_name_or_path names the adapter itself"
                         : ": adapters stand on each other in a circle",
       " (", join(names, " -> "), "); name the network that was adapted");
}

Json whole_or_not(double number) {
  return number == std::floor(number) ? Json(int64_t(number)) : Json(number);
}

}  // namespace

fs::path base_of(const fs::path& adapter) {
  const fs::path path = adapter / kAdapterConfig;
  require(fs::is_regular_file(path), ErrorKind::NotFound, path.string(),
          ": is missing; it says where the network is that the adapters stand beside");
  const Json json = read_json_file(path);
  const std::string name = Field::root(json, path.string()).at("base_model_name_or_path").text();
  const fs::path given = name;
  std::vector<fs::path> places{given};
  if (given.is_relative()) places = {adapter / given, given};
  for (const fs::path& place : places)
    if (!name.empty() && fs::is_directory(place)) return fs::absolute(place).lexically_normal();
  std::vector<std::string> looked;
  for (const fs::path& place : places)
    looked.push_back(fs::absolute(place).lexically_normal().string());
  fail(ErrorKind::NotFound, path.string(), ": the base of the adapters, base_model_name_or_path '",
       shorten_bytes(name, kShownOfConfig), "', is no folder here (looked for ",
       join(looked, " and "), "); write there where the network lies");
}

fs::path network_below(const fs::path& adapter) {
  fs::path path = adapter;
  for (std::vector<fs::path> chain; is_adapter(path); path = base_of(path))
    chain = followed(std::move(chain), path);
  return path;
}

PretrainedLanguage read_base(const fs::path& adapter, const LanguageReading& how) {
  LanguageReading below = how;
  below.merges = true;
  below.chain = followed(how.chain, adapter);
  return read_language(base_of(adapter), below);
}

PretrainedLanguage read_adapter(const fs::path& folder, const LanguageReading& how) {
  const AdapterConfig config = read_config(folder);
  PretrainedLanguage found = read_base(folder, how);
  found.base = found.path;
  if (fs::exists(folder / "tokenizer.json"))
    found.tokeniser = std::make_shared<const HuggingFaceTokeniser>(load_whole_tokeniser(folder));
  require(found.tokeniser->size() <= found.vocabulary, ErrorKind::BadData, folder.string(),
          ": its tokeniser has ", found.tokeniser->size(), " tokens, the base's network ",
          found.vocabulary);
  const fs::path file = folder / kAdapterModel;
  require(fs::exists(file), ErrorKind::NotFound, file.string(), ": is missing",
          fs::exists(folder / "adapter_model.bin") ? "; adapter_model.bin cannot be read" : "");
  WeightMap tensors = read_safetensors(file).tensors;
  found.options.lora_rank = config.rank;
  found.options.lora_alpha = config.alpha;
  found.options.lora_dropout = config.dropout;
  found.options.lora_targets = config.targets.empty() ? adapted_targets(tensors) : config.targets;
  require(!found.options.lora_targets.empty(), ErrorKind::BadData, file.string(),
          ": holds no adapter");
  const std::vector<WeightNames> names = adapter_names(found.options);
  WeightShapes wanted = shapes_of(names);
  for (size_t i = 0; i + 1 < names.size(); i += 2) {  // A and B of a layer that has none
    const auto &a = names[i].theirs[0], &b = names[i + 1].theirs[0];
    if (tensors.count(a) + tensors.count(b) > 0) continue;
    tensors[a] = at::zeros(names[i].shapes[0]);
    tensors[b] = at::zeros(names[i + 1].shapes[0]);
  }
  WeightProblems problems;
  problems.check(wanted, tensors);
  for (const auto& [name, tensor] : tensors)
    if (wanted.count(name) == 0) problems.unknown.push_back(name);
  problems.report(file.string(), kAdapterConfig);
  found.weights.merge(from_hugging_face(names, tensors));
  return found;
}

void add_base(PretrainedLanguage& run, const fs::path& path, const LanguageReading& how) {
  PretrainedLanguage base = read_base(path, how);
  const LanguageModelOptions own = run.options.whole(), there = base.options;
  require(own.name == there.name && own.layers == there.layers && own.hidden == there.hidden &&
              own.heads == there.heads && own.key_heads == there.key_heads &&
              own.feed_forward == there.feed_forward && run.vocabulary == base.vocabulary,
          ErrorKind::BadData, path.string(), ": its adapters were trained beside another network ",
          "than ", base.path.string(), "; the sizes differ");
  run.base = base.path;
  run.weights.merge(base.weights);
}

void merge_adapters(PretrainedLanguage& model) {
  LanguageModelOptions& o = model.options;
  if (o.lora_rank == 0) return;
  torch::NoGradGuard no_gradients;
  std::set<std::string> copied;  // weights that are ours to change
  for (const AdapterPlace& place : adapter_places(o)) {
    const std::string own = place.owner + "." + place.name;
    const auto a = model.weights.find(own + ".A"), b = model.weights.find(own + ".B");
    require(a != model.weights.end() && b != model.weights.end(), ErrorKind::BadData,
            model.path.string(), ": the adapter ", own, " is missing");
    at::Tensor& weight = model.weights.at(place.weight);
    if (copied.insert(place.weight).second)
      weight = weight.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
    weight.narrow(0, place.first, place.rows)
        .add_(b->second.matmul(a->second), o.lora_alpha / double(o.lora_rank));
    model.weights.erase(a);
    model.weights.erase(b);
  }
  o.lora_rank = 0;
  o.lora_targets.clear();
}

void write_adapter_config(const fs::path& folder, const LanguageModelOptions& o,
                          const fs::path& base) {
  std::vector<std::string> targets = o.lora_targets;
  if (std::find(targets.begin(), targets.end(), "all-linear") != targets.end()) {
    std::set<std::string> names;
    for (const AdapterPlace& place : adapter_places(o)) names.insert(place.name.substr(5));
    targets.assign(names.begin(), names.end());
  }
  write_json_file(folder / kAdapterConfig, {{"alpha_pattern", Json::object()},
                                            {"auto_mapping", nullptr},
                                            {"base_model_name_or_path", base.string()},
                                            {"bias", "none"},
                                            {"fan_in_fan_out", o.name == "gpt2"},
                                            {"inference_mode", true},
                                            {"init_lora_weights", true},
                                            {"layers_pattern", nullptr},
                                            {"layers_to_transform", nullptr},
                                            {"lora_alpha", whole_or_not(o.lora_alpha)},
                                            {"lora_dropout", o.lora_dropout},
                                            {"modules_to_save", nullptr},
                                            {"peft_type", "LORA"},
                                            {"r", o.lora_rank},
                                            {"rank_pattern", Json::object()},
                                            {"revision", nullptr},
                                            {"target_modules", targets},
                                            {"task_type", "CAUSAL_LM"},
                                            {"use_dora", false},
                                            {"use_rslora", false}});
}

void write_adapter_weights(const fs::path& folder, const LanguageModelOptions& options,
                           const WeightMap& weights) {
  write_safetensors(folder / kAdapterModel, to_hugging_face(adapter_names(options), weights),
                    {{"format", "pt"}});
}

void write_adapter(const fs::path& folder, const PretrainedLanguage& model) {
  require(model.options.lora_rank > 0, ErrorKind::InvalidArgument, model.path.string(),
          ": has no low-rank adapters; leave --adapter out to write the whole network");
  AtomicFolder whole(folder);
  write_adapter_weights(whole.path(), model.options, model.weights);
  model.tokeniser->save(whole.path() / "tokenizer.json");
  write_adapter_config(whole.path(), model.options, model.base);
  whole.commit();
}

}  // namespace fovea
