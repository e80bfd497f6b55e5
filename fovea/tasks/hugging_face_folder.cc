#include "fovea/tasks/hugging_face_folder.h"

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/run_folder.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kLargestSize = 1 << 24;  // of anything in config.json
constexpr int64_t kMostLabels = 100'000;
constexpr size_t kShownOfValue = 200;  // of a value, in a message
const char* const kIndex = "model.safetensors.index.json";

/// With room for the names of all labels.
Json read_config_json(const fs::path& folder) {
  JsonLimits limits;
  limits.keys = size_t(kMostLabels);
  return read_json_file(folder / "config.json", limits);
}

/// transformers takes the usual names of sizes, too, where an architecture has its own.
Json with_own_names(Json config) {
  using Names = std::map<std::string, std::string>;
  const Names t5{{"hidden_size", "d_model"},
                 {"num_hidden_layers", "num_layers"},
                 {"num_attention_heads", "num_heads"},
                 {"head_dim", "d_kv"}};
  const std::map<std::string, Names> own{{"gpt2",
                                          {{"hidden_size", "n_embd"},
                                           {"num_hidden_layers", "n_layer"},
                                           {"num_attention_heads", "n_head"},
                                           {"max_position_embeddings", "n_positions"}}},
                                         {"distilbert",
                                          {{"hidden_size", "dim"},
                                           {"num_hidden_layers", "n_layers"},
                                           {"num_attention_heads", "n_heads"}}},
                                         {"t5", t5},
                                         {"mt5", t5}};
  if (!config.is_object() || !config.contains("model_type") || !config["model_type"].is_string())
    return config;
  const auto names = own.find(config["model_type"].get<std::string>());
  if (names == own.end()) return config;
  for (const auto& [usual, name] : names->second)
    if (config.contains(usual) && !config.contains(name)) {
      const Json size = config[usual];
      config[name] = size;
    }
  return config;
}

/// Whether it names a file of the folder itself.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\\') == std::string::npos && name.find('\0') == std::string::npos;
}

/// Which file each tensor is in, by model.safetensors.index.json.
std::map<std::string, std::string> read_index(const fs::path& path) {
  JsonLimits limits;
  limits.keys = 10'000'000;
  const SortedJson json = parse_sorted_json(read_file(path), path.string(), limits);
  std::map<std::string, std::string> shard_of;
  SortedField::root(json, path.string())
      .at("weight_map")
      .each_member([&](const std::string& tensor, const SortedField& file) {
        const std::string name = file.text();
        require(is_plain_name(name), ErrorKind::BadData, file.place(), ": '",
                shorten_bytes(name, kShownOfValue),
                "' is outside of the folder; expected the name of a file in it");
        shard_of[tensor] = name;
      });
  require(!shard_of.empty(), ErrorKind::BadData, path.string(), ": its weight_map is empty");
  return shard_of;
}

std::vector<fs::path> shards_of(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& [tensor, file] : read_index(folder / kIndex)) names.insert(file);
  std::vector<std::string> missing;
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    if (!fs::is_regular_file(folder / name)) missing.push_back(name);
    files.push_back(folder / name);
  }
  require(missing.empty(), ErrorKind::NotFound, (folder / kIndex).string(), ": of its ",
          names.size(), " files of weights ", missing.size(),
          missing.size() == 1 ? " is missing: " : " are missing: ", join(missing));
  return files;
}

/// The shards hold what the index says, and nothing else.
void check_index(const fs::path& folder, const std::map<std::string, std::string>& found) {
  const auto wanted = read_index(folder / kIndex);
  std::vector<std::string> problems;
  for (const auto& [tensor, file] : wanted) {
    const auto there = found.find(tensor);
    if (there == found.end())
      problems.push_back(concat(tensor, " is in no file"));
    else if (there->second != file)
      problems.push_back(concat(tensor, " is in ", there->second, ", not in ", file));
  }
  for (const auto& [tensor, file] : found)
    if (wanted.count(tensor) == 0)
      problems.push_back(concat(tensor, " of ", file, " is not in it"));
  require(problems.empty(), ErrorKind::BadData, (folder / kIndex).string(),
          ": does not fit the files of weights; ", join(problems, "; "));
}

/// Block by block: what is found out about each number takes memory.
bool all_finite(const at::Tensor& tensor) {
  constexpr int64_t kBlock = 1 << 20;
  const at::Tensor flat = tensor.reshape({-1});
  for (int64_t first = 0; first < flat.numel(); first += kBlock)
    if (!flat.narrow(0, first, std::min(kBlock, flat.numel() - first))
             .isfinite()
             .all()
             .item<bool>())
      return false;
  return true;
}

}  // namespace

bool is_hugging_face(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(folder / "config.json", ignored)) return is_adapter(folder);
  try {
    const Json config = read_config_json(folder);
    return config.is_object() && !config.contains("format_version") &&
           (config.contains("model_type") || config.contains("architectures"));
  } catch (const Error&) {
    return false;  // whoever reads it as a run's says what is wrong
  }
}

bool is_adapter(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kAdapterConfig, ignored) &&
         !fs::exists(folder / "config.json", ignored);
}

HuggingFaceFolder::HuggingFaceFolder(fs::path path)
    : path_(std::move(path)),
      where_((path_ / "config.json").string()),
      config_(with_own_names(read_config_json(path_))) {}

std::string HuggingFaceFolder::architecture() const {
  const auto found = config().find("architectures");
  if (!found) return "";
  const std::vector<std::string> all = found->texts();
  return all.empty() ? "" : all.front();
}

int64_t HuggingFaceFolder::size(const char* key) const {
  return config().at(key).integer(1, kLargestSize);
}

int64_t HuggingFaceFolder::size_or(const char* key, int64_t otherwise) const {
  return config_.contains(key) && !config_[key].is_null() ? size(key) : otherwise;
}

bool HuggingFaceFolder::flag_or(const char* key, bool otherwise) const {
  if (!config_.contains(key) || config_[key].is_null()) return otherwise;
  require(config_[key].is_boolean(), ErrorKind::BadData, where_, ": '", key,
          "' is not true or false");
  return config_[key].get<bool>();
}

std::vector<int64_t> HuggingFaceFolder::token_ids(const char* key, int64_t vocabulary) const {
  const fs::path path = path_ / "generation_config.json";
  const Json generation = fs::exists(path) ? read_json_file(path) : Json::object();
  const bool own = generation.is_object() && generation.contains(key);
  const auto found =
      Field::root(own ? generation : config_, own ? path.string() : where_).find(key);
  std::vector<int64_t> ids;
  if (!found || found->value().is_null()) return ids;
  if (found->value().is_array())
    found->each({}, [&](const Field& one) { ids.push_back(one.integer(0, vocabulary - 1)); });
  else
    ids.push_back(found->integer(0, vocabulary - 1));
  return ids;
}

double HuggingFaceFolder::number(const char* key, double otherwise) const {
  const auto found = config().find(key);
  return found ? found->finite() : otherwise;
}

std::string HuggingFaceFolder::choice(const char* key,
                                      const std::vector<std::string>& known) const {
  const auto found = config().find(key);
  if (!found) return known.front();
  const Json& value = found->value();
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  require(std::find(known.begin(), known.end(), text) != known.end(), ErrorKind::Unsupported,
          where_, ": '", key, "' is ", shorten_bytes(text, kShownOfValue), "; only ",
          join(known, " or "), " is read");
  return text;
}

std::string HuggingFaceFolder::dtype() const {
  return config().text_or_empty(has("dtype") ? "dtype" : "torch_dtype");
}

std::vector<std::string> HuggingFaceFolder::labels() const {
  const auto named = config().find("id2label");
  if (!named) {
    const int64_t count = config().integer_or("num_labels", 2, 1, kMostLabels);
    std::vector<std::string> labels;
    for (int64_t i = 0; i < count; ++i) labels.push_back(concat("LABEL_", i));
    return labels;
  }
  std::map<int64_t, std::string> by_number;
  named->each_member([&](const std::string& number, const Field& name) {
    int64_t id = -1;
    const bool fits = parse_integer(number, id) && id >= 0 && id < kMostLabels;
    require(fits, ErrorKind::BadData, named->place(), ": '", shorten_bytes(number, kShownOfValue),
            "' is no number of a label; expected 0, 1, …");
    by_number[id] = name.text();
  });
  std::vector<std::string> labels;
  std::map<std::string, int64_t> seen;
  for (const auto& [id, name] : by_number) {
    require(id == int64_t(labels.size()), ErrorKind::BadData, named->place(), ": the label ",
            labels.size(), " is missing; expected 0 to ", by_number.rbegin()->first);
    const auto [first, is_new] = seen.emplace(name, id);
    require(is_new, ErrorKind::BadData, named->place(), ": the labels ", first->second, " and ", id,
            " are both called '", shorten_bytes(name, kShownOfValue), "'");
    labels.push_back(name);
  }
  require(!labels.empty(), ErrorKind::BadData, named->place(), ": has no label");
  return labels;
}

std::vector<fs::path> HuggingFaceFolder::weight_files() const {
  if (fs::is_regular_file(path_ / "model.safetensors")) return {path_ / "model.safetensors"};
  if (fs::is_regular_file(path_ / kIndex)) return shards_of(path_);
  std::vector<std::string> files, others;
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors")) files.push_back(name);
    if (name.ends_with(".bin") || name.ends_with(".h5")) others.push_back(name);
  }
  std::sort(files.begin(), files.end());
  std::sort(others.begin(), others.end());
  require(!files.empty(), ErrorKind::NotFound, path_.string(),
          ": there is no .safetensors file with the weights",
          others.empty() ? "" : concat("; ", join(others), " cannot be read"));
  require(files.size() == 1, ErrorKind::NotFound, path_.string(), ": there are several files, ",
          join(files), ", but neither model.safetensors nor ", kIndex,
          ", which says what each of them holds");
  return {path_ / files[0]};
}

WeightMap HuggingFaceFolder::weights(bool mapped) const {
  const std::vector<fs::path> files = weight_files();
  WeightMap weights;
  std::map<std::string, std::string> file_of;
  for (const fs::path& file : files)
    for (const auto& [name, tensor] :
         (mapped ? map_safetensors(file) : read_safetensors(file)).tensors) {
      require(weights.emplace(name, tensor).second, ErrorKind::BadData, file.string(),
              ": holds the tensor '", name, "', which ", file_of[name], " has already");
      file_of[name] = file.filename().string();
    }
  const bool sharded = !fs::exists(path_ / "model.safetensors") && fs::exists(path_ / kIndex);
  if (sharded) check_index(path_, file_of);
  return weights;
}

void WeightProblems::check(const WeightShapes& wanted, const WeightMap& found) {
  for (const auto& [name, shape] : wanted) {
    const auto there = found.find(name);
    if (there == found.end()) {
      missing.push_back(name);
      continue;
    }
    const at::Tensor& tensor = there->second;
    if (tensor.sizes() != at::IntArrayRef(shape))
      shapes.push_back(concat(name, " ", tensor.sizes(), " instead of ", at::IntArrayRef(shape)));
    else if (!tensor.is_floating_point())
      numbers.push_back(concat(name, " of type ", tensor.scalar_type()));
    else if (!all_finite(tensor))
      numbers.push_back(concat(name, " with NaN or infinity"));
    forget_pages(tensor);  // not all of a mapped file is needed again, or soon
  }
}

void WeightProblems::report(const std::string& where, const char* config) const {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) parts.push_back(concat(what, join(names)));
  };
  add("missing: ", missing);
  add("unknown: ", unknown);
  add("of another shape: ", shapes);
  add("not usable: ", numbers);
  if (parts.empty()) return;
  add("not of this network: ", unused);
  fail(ErrorKind::BadData, where, ": the weights do not fit ", config, "; ", join(parts, "; "));
}

void check_weights(const std::vector<WeightNames>& names, const WeightMap& found,
                   const std::string& where) {
  const WeightShapes wanted = shapes_of(names);
  WeightProblems problems;
  problems.check(wanted, found);
  for (const auto& [name, tensor] : found)
    if (!wanted.contains(name)) problems.unknown.push_back(name);
  problems.report(where);
}

}  // namespace fovea
