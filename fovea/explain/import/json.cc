#include "fovea/explain/import/json.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"

namespace fovea {
namespace {

constexpr size_t kDimensionLimit = 5;
constexpr const char* kUnnamed = "attention";
constexpr std::string_view kLabelFields[] = {"tokens",  "queries",        "keys",   "text",
                                             "offsets", "offset_mapping", "tensors"};

/// One pass over JSON text outside its strings.
template <class Visit>
void outside_strings(std::string_view text, const Visit& visit) {
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string)
      i += c == '\\';
    else
      visit(i);
  }
}

std::string without_not_numbers(const std::string& text) {
  std::string result;
  size_t copied = 0;
  outside_strings(text, [&](size_t at) {
    for (const std::string_view word : {"NaN", "-Infinity", "Infinity"}) {
      if (at < copied || std::string_view(text).substr(at, word.size()) != word) continue;
      result.append(text, copied, at - copied).append("null");
      copied = at + word.size();
    }
  });
  return result.append(text, copied);
}

/// Nested lists of equal lengths into one flat row.
class TensorReader {
 public:
  TensorReader(std::string name, std::string where)
      : name_(std::move(name)), where_(std::move(where)) {}

  at::Tensor read(const Json& value) {
    for (const Json* level = &value; level->is_array() && shape_.size() <= kDimensionLimit;
         level = &level->front()) {
      shape_.push_back(int64_t(level->size()));
      require(!level->empty(), ErrorKind::BadData, where_, ": ", name_, " holds an empty list");
    }
    require(!shape_.empty() && shape_.size() <= kDimensionLimit, ErrorKind::BadData, where_, ": ",
            name_, ": found ", shape_.empty() ? value.type_name() : "more than 5 nested lists",
            ", expected 1 to 5 nested lists of numbers");
    append(value, 0);
    const at::Tensor tensor = at::empty(shape_, at::kDouble);
    std::copy(values_.begin(), values_.end(), tensor.data_ptr<double>());
    return tensor;
  }

 private:
  void append(const Json& value, size_t depth) {
    if (depth == shape_.size()) {
      if (!value.is_number() && !value.is_null() && !value.is_boolean()) [[unlikely]]
        fail(ErrorKind::BadData, place(depth), ": found ", value.type_name(),
             ", expected a number");
      values_.push_back(value.is_null()      ? std::numeric_limits<double>::quiet_NaN()
                        : value.is_boolean() ? double(value.get<bool>())
                                             : value.get<double>());
      return;
    }
    const auto size = size_t(shape_[depth]);
    if (!value.is_array()) [[unlikely]]
      fail(ErrorKind::BadData, place(depth), ": found ", value.type_name(), ", expected a list of ",
           size);
    if (value.size() != size) [[unlikely]]
      fail(ErrorKind::BadData, place(depth), ": found ", value.size(), " elements, expected ", size,
           " as in the first list of its level");
    for (index_[depth] = 0; index_[depth] < size; ++index_[depth])
      append(value[index_[depth]], depth + 1);
  }
  std::string place(size_t depth) const {
    std::string text = concat(where_, ": ", name_);
    for (size_t i = 0; i < depth; ++i) text += concat("[", index_[i], "]");
    return text;
  }

  std::string name_, where_;
  std::vector<int64_t> shape_;
  std::vector<double> values_;
  size_t index_[kDimensionLimit] = {};
};

/// A list of texts, or an object as in labels_from_json.
bool is_label_list(const Json& value) {
  return (value.is_array() && !value.empty() && value[0].is_string()) || value.is_object();
}

/// Labels that stand beside the weights in one object; null where there are none.
Json labels_beside(const Json& value) {
  const auto labels = [&](const char* key) {
    return value.contains(key) && is_label_list(value[key]);
  };
  if (!labels("tokens") && !labels("queries") && !labels("keys") && !labels("tensors")) return {};
  Json found = Json::object();
  for (const std::string_view key : kLabelFields)
    if (value.contains(key)) found[std::string(key)] = value[std::string(key)];
  return found;
}

/// {"name": …, "attn": [L, H, Q, K], "left_text": queries, "right_text": keys}.
void add_viewer_entry(const Field& entry, ImportedWeights& weights) {
  std::string name = entry.text_or_empty("name");
  if (name.empty()) name = kUnnamed;
  for (int number = 2; weights.tensors.count(name) > 0; ++number)
    name = concat(name.substr(0, name.find(" #")), " #", number);
  at::Tensor tensor = TensorReader("attn", entry.place()).read(entry.at("attn").value());
  if (tensor.dim() == 4) tensor = tensor.unsqueeze(1);  // [L, 1, H, Q, K]: layers come first here
  weights.tensors.emplace(name, tensor);
  PairLabels& labels = weights.labels.tensors[name];
  if (const auto texts = entry.find("left_text")) labels.queries.labels = texts->texts();
  if (const auto texts = entry.find("right_text")) labels.keys.labels = texts->texts();
  if (labels.empty()) weights.labels.tensors.erase(name);
}

bool is_viewer_list(const Json& value) {
  return value.is_array() && !value.empty() && value[0].is_object();
}

}  // namespace

Json parse_weights(std::string text, const std::string& where) {
  int64_t commas = 0;
  outside_strings(text, [&](size_t at) { commas += text[at] == ','; });
  require(commas < kJsonNumberLimit, ErrorKind::BadData, where, ": holds more than ",
          format_count(kJsonNumberLimit), " numbers, the limit for JSON; save it as safetensors");
  if (text.find("NaN") != std::string::npos || text.find("Infinity") != std::string::npos)
    text = without_not_numbers(text);
  return parse_json(text, where);
}

ImportedWeights weights_from_json(const Json& value, const std::string& where) {
  ImportedWeights weights;
  const bool wrapped =
      value.is_object() && value.contains("attention") && is_viewer_list(value["attention"]);
  const Json& list = wrapped ? value["attention"] : value;
  if (is_viewer_list(list)) {
    Field(list, concat(where, wrapped ? ": attention" : ": ")).each({}, [&](const Field& entry) {
      add_viewer_entry(entry, weights);
    });
  } else if (value.is_object() && value.contains("attn")) {
    add_viewer_entry(Field(value, concat(where, ": ")), weights);
  } else if (value.is_object()) {
    const Json labels = labels_beside(value);
    if (!labels.is_null()) weights.labels = labels_from_json(labels, where);
    for (const auto& [name, member] : value.items())
      if (labels.is_null() || !labels.contains(name))
        weights.tensors.emplace(name, TensorReader(name, where).read(member));
  } else {
    weights.tensors.emplace(kUnnamed, TensorReader("weights", where).read(value));
  }
  return weights;
}

}  // namespace fovea
