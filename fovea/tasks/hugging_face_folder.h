// A folder as Hugging Face's transformers writes it, of any network:
//   config.json      model_type, architectures, sizes, names of labels
//   *.safetensors    the weights, one file of any name, or several with
//   model.safetensors.index.json
// Which task a network belongs to is in architectures.h. docs/formats/hugging-face.md lists what is
// read and what is refused.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/models/weight_names.h"

namespace fovea {

/// Whether the folder's config.json is of Hugging Face, of a known network or not; or whether it
/// holds low-rank adapters alone (is_adapter).
bool is_hugging_face(const std::filesystem::path& folder);
/// Whether it holds adapter_config.json, as PEFT writes it, and no config.json.
bool is_adapter(const std::filesystem::path& folder);

class HuggingFaceFolder {
 public:
  /// Reads config.json. BadData and NotFound name it.
  explicit HuggingFaceFolder(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& where() const { return where_; }  // config.json, for messages
  const Json& json() const { return config_; }
  Field config() const { return Field::root(config_, where_); }
  std::string model_type() const { return config().text_or_empty("model_type"); }
  /// The first of "architectures"; empty where there is none.
  std::string architecture() const;

  bool has(const char* key) const { return config().find(key).has_value(); }
  /// A whole number of config.json, at least 1.
  int64_t size(const char* key) const;
  /// The same of a key that may be missing or null.
  int64_t size_or(const char* key, int64_t otherwise) const;
  double number(const char* key, double otherwise) const;
  bool flag_or(const char* key, bool otherwise) const;
  /// Numbers of tokens, one or several: of generation_config.json, else of config.json. Empty where
  /// neither names any.
  std::vector<int64_t> token_ids(const char* key, int64_t vocabulary) const;
  /// Unsupported unless `key` is missing or one of `known`.
  std::string choice(const char* key, const std::vector<std::string>& known) const;
  /// "dtype", or "torch_dtype" of older folders; empty where neither is there.
  std::string dtype() const;
  /// Names of the labels, by their numbers: id2label, or LABEL_0 … of num_labels, which is 2 where
  /// nothing is said. BadData unless the numbers are 0 to n-1.
  std::vector<std::string> labels() const;

  /// The files that hold the weights. NotFound names every shard that is missing; BadData for an
  /// index that points outside of the folder.
  std::vector<std::filesystem::path> weight_files() const;
  /// All tensors under the names of the files, in the files' types. `mapped`: views of the files
  /// (map_safetensors).
  WeightMap weights(bool mapped = false) const;

 private:
  std::filesystem::path path_;
  std::string where_;
  Json config_;
};

/// What does not fit, one phrase each: all of it is one error.
struct WeightProblems {
  std::vector<std::string> missing, unknown, shapes, numbers;
  std::vector<std::string> unused;  // of other networks: harmless where all else fits

  /// Every wanted tensor is there, of its shape, floating-point and finite.
  void check(const WeightShapes& wanted, const WeightMap& found);
  /// BadData, where there is a problem. `config`: the file that they should fit.
  void report(const std::string& where, const char* config = "config.json") const;
};

/// BadData unless these are the tensors of `names` and no others.
void check_weights(const std::vector<WeightNames>& names, const WeightMap& found,
                   const std::string& where);

}  // namespace fovea
