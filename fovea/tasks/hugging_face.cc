#include "fovea/tasks/hugging_face.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

using at::Tensor;

constexpr int64_t kLargestSize = 1 << 24;  // of anything in config.json

constexpr size_t kShownOfValue = 200;  // of a value, in a message

/// A whole number of config.json, at least 1.
int64_t size_of(const Field& config, const char* key) {
  return config.at(key).integer(1, kLargestSize);
}

double number_or(const Field& config, const char* key, double otherwise) {
  const auto found = config.find(key);
  return found ? found->finite() : otherwise;
}

void check_architecture(const Json& config, const std::string& where) {
  const auto text = [&](const char* key, const char* otherwise) {
    if (!config.contains(key)) return std::string(otherwise);
    return config[key].is_string() ? config[key].get<std::string>() : config[key].dump();
  };
  const std::string type = shorten_bytes(text("model_type", "none"), kShownOfValue);
  const Json architectures =
      config.contains("architectures") ? config["architectures"] : Json::array();
  const bool is_bert = std::all_of(architectures.begin(), architectures.end(), [](const Json& one) {
    return one.is_string() && one.get<std::string>().starts_with("Bert");
  });
  require(type == "bert" && is_bert, ErrorKind::Unsupported, where, ": model_type is ", type,
          " and architectures ", shorten_bytes(architectures.dump(), kShownOfValue),
          "; only BERT is read");
  const auto expect = [&](const char* key, const char* wanted) {
    const std::string found = text(key, wanted);
    require(found == wanted, ErrorKind::Unsupported, where, ": '", key, "' is ",
            shorten_bytes(found, kShownOfValue), "; only ", wanted, " is read");
  };
  expect("hidden_act", "gelu");
  expect("position_embedding_type", "absolute");
  expect("is_decoder", "false");
}

/// {"0": [2, 5]}, layer and heads from 0, as the text of model.pruned_heads.
std::string pruned_heads_of(const Json& config, const BertOptions& options,
                            const std::string& where) {
  if (!config.contains("pruned_heads") || config["pruned_heads"].is_null()) return "";
  const Json& pruned = config["pruned_heads"];
  const auto refuse = [&] {
    fail(ErrorKind::BadData, where, ": 'pruned_heads' is ",
         shorten_bytes(pruned.dump(), kShownOfValue),
         "; expected lists of heads by layer, both from 0, of ", options.layers, " layers with ",
         options.heads, " heads, as {\"0\": [2, 5]}");
  };
  if (!pruned.is_object()) refuse();
  std::vector<HeadPlace> heads;
  for (const auto& [key, list] : pruned.items()) {
    int64_t layer = 0;
    if (!parse_integer(key, layer) || layer < 0 || layer >= options.layers || !list.is_array())
      refuse();
    for (const Json& head : list) {
      if (!head.is_number_integer() || head < 0 || head >= options.heads) refuse();
      heads.push_back({BertEncoder::kMap, layer + 1, head.get<int64_t>() + 1});
    }
  }
  std::sort(heads.begin(), heads.end());
  if (std::adjacent_find(heads.begin(), heads.end()) != heads.end()) refuse();
  return pruned_heads_text(heads);
}

BertOptions options_of(const Json& config, const std::string& where) {
  const Field root = Field::root(config, where);
  check_architecture(config, where);
  BertOptions options;
  OptionList list;
  options.describe(list);
  list.merge({{"layers", size_of(root, "num_hidden_layers")},
              {"hidden", size_of(root, "hidden_size")},
              {"heads", size_of(root, "num_attention_heads")},
              {"feed_forward", size_of(root, "intermediate_size")},
              {"maximum_length", size_of(root, "max_position_embeddings")},
              {"segments", size_of(root, "type_vocab_size")},
              {"dropout", number_or(root, "hidden_dropout_prob", 0.1)},
              {"attention_dropout", number_or(root, "attention_probs_dropout_prob", 0.1)},
              {"epsilon", number_or(root, "layer_norm_eps", 1e-12)}},
             where);
  require(options.hidden % options.heads == 0, ErrorKind::BadData, where, ": num_attention_heads (",
          options.heads, ") does not divide hidden_size (", options.hidden, ")");
  options.pruned_heads = pruned_heads_of(config, options, where);
  return options;
}

fs::path find_weights(const fs::path& folder) {
  std::vector<std::string> files, others;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors")) files.push_back(name);
    if (name.ends_with(".bin") || name.ends_with(".h5")) others.push_back(name);
  }
  std::sort(files.begin(), files.end());
  require(!files.empty(), ErrorKind::NotFound, folder.string(),
          ": there is no .safetensors file with the weights",
          others.empty() ? "" : concat("; ", join(others), " cannot be read"));
  if (files.size() == 1) return folder / files[0];
  require(std::count(files.begin(), files.end(), "model.safetensors") == 1, ErrorKind::Unsupported,
          folder.string(), ": the weights are spread over ", join(files),
          "; only one file is read");
  return folder / "model.safetensors";
}

/// Tensors under today's names, without "bert." in front. What is no weight is left out.
WeightMap read_weights(const fs::path& path) {
  WeightMap weights;
  for (const auto& [name, tensor] : read_safetensors(path).tensors) {
    const std::string plain = hugging_face_name(name);
    if (plain.ends_with("_ids")) continue;  // position_ids: 0, 1, 2, …
    require(weights.emplace(plain, tensor).second, ErrorKind::BadData, path.string(),
            ": holds the tensor '", plain, "' twice, with and without a prefix or an old name");
  }
  return weights;
}

/// What does not fit, one phrase each.
struct Problems {
  std::vector<std::string> missing, unknown, shapes, numbers;
  std::vector<std::string> unused;  // of other networks: harmless where all else fits

  void check(const WeightShapes& wanted, const WeightMap& found) {
    for (const auto& [name, shape] : wanted) {
      const auto tensor = found.find(name);
      if (tensor == found.end())
        missing.push_back(name);
      else
        check(name, tensor->second, shape);
    }
  }

  void check(const std::string& name, const Tensor& tensor, const std::vector<int64_t>& shape) {
    if (tensor.sizes() != at::IntArrayRef(shape))
      shapes.push_back(concat(name, " ", tensor.sizes(), " instead of ", at::IntArrayRef(shape)));
    else if (!tensor.is_floating_point())
      numbers.push_back(concat(name, " of type ", tensor.scalar_type()));
    else if (!tensor.isfinite().all().item<bool>())
      numbers.push_back(concat(name, " with NaN or infinity"));
  }

  void report(const std::string& where) const {
    std::vector<std::string> parts;
    const auto add = [&](const char* what, const std::vector<std::string>& names) {
      if (!names.empty()) parts.push_back(concat(what, join(names)));
    };
    add("missing: ", missing);
    add("unknown: ", unknown);
    add("of another shape: ", shapes);
    add("not usable: ", numbers);
    if (parts.empty()) return;
    add("not of a BERT: ", unused);
    fail(ErrorKind::BadData, where, ": the weights do not fit config.json; ", join(parts, "; "));
  }
};

bool belongs_to_encoder(const std::string& name) {
  return name.starts_with("embeddings.") || name.starts_with("encoder.") ||
         name.starts_with("pooler.");
}

/// The heads that pretraining has, out of `weights`, where they are whole.
WeightMap take_heads(WeightMap& weights, const BertOptions& options, int64_t vocabulary,
                     Problems& problems, std::vector<std::string>& notes) {
  const auto decoder = weights.find("cls.predictions.decoder.weight");
  const bool tied = decoder == weights.end() ||
                    decoder->second.equal(weights["embeddings.word_embeddings.weight"]);
  if (!tied)
    notes.push_back("the head for masked words has a matrix of its own, which is not read");
  const auto bias = weights.find("cls.predictions.decoder.bias");
  if (bias != weights.end()) weights.emplace("cls.predictions.bias", bias->second);
  WeightMap heads;
  for (const bool is_masked : {true, false}) {  // masked words, next sentence
    const auto names =
        is_masked ? masked_head_names(options.hidden, vocabulary) : next_head_names(options.hidden);
    const WeightShapes shapes = shapes_of(names);
    const bool whole = std::all_of(shapes.begin(), shapes.end(),
                                   [&](const auto& item) { return weights.count(item.first) > 0; });
    if (!whole || (is_masked && !tied)) continue;
    problems.check(shapes, weights);
    heads.merge(from_hugging_face(names, weights));
    for (const auto& [name, shape] : shapes) weights.erase(name);
    if (!is_masked) continue;
    weights.erase("cls.predictions.decoder.weight");
    weights.erase("cls.predictions.decoder.bias");
  }
  return heads;
}

}  // namespace

bool is_hugging_face(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(folder / "config.json", ignored)) return false;
  try {
    const Json config = read_json_file(folder / "config.json");
    return config.is_object() && !config.contains("format_version") &&
           (config.contains("model_type") || config.contains("architectures"));
  } catch (const Error&) {
    return false;  // whoever reads it as a run's says what is wrong
  }
}

PretrainedBert read_hugging_face(const fs::path& folder) {
  const std::string where = (folder / "config.json").string();
  const Json config = read_json_file(folder / "config.json");
  PretrainedBert bert;
  bert.options = options_of(config, where);
  const int64_t vocabulary = size_of(Field::root(config, where), "vocab_size");
  bert.tokeniser = std::make_shared<const WordPiece>(WordPiece::load(folder));
  const int64_t pieces = bert.tokeniser->size();
  require(pieces <= vocabulary, ErrorKind::BadData, where, ": vocab_size is ", vocabulary,
          ", but the tokeniser has ", pieces, " pieces");

  const fs::path path = find_weights(folder);
  WeightMap weights = read_weights(path);
  Problems problems;
  const std::vector<WeightNames> names = encoder_names(bert.options, vocabulary);
  WeightShapes wanted = shapes_of(names);
  if (weights.count("pooler.dense.weight") + weights.count("pooler.dense.bias") == 0) {
    std::erase_if(wanted, [](const auto& item) { return item.first.starts_with("pooler."); });
    bert.notes.push_back("the folder has no pooler; it begins with fresh weights");
  }
  problems.check(wanted, weights);
  bert.heads = take_heads(weights, bert.options, vocabulary, problems, bert.notes);
  for (const auto& [name, tensor] : weights) {
    if (wanted.count(name) > 0) continue;
    (belongs_to_encoder(name) ? problems.unknown : problems.unused).push_back(name);
  }
  problems.report(path.string());
  bert.encoder = from_hugging_face(names, weights);
  if (!problems.unused.empty())
    bert.notes.push_back("not used of the weights: " + join(problems.unused));
  if (pieces < vocabulary) {
    for (auto* table : {&bert.encoder["tokens.weight"], &bert.heads["masked.bias"]})
      if (table->defined()) *table = table->narrow(0, 0, pieces);
    if (!bert.heads["masked.bias"].defined()) bert.heads.erase("masked.bias");
    bert.notes.push_back(concat("the last ", vocabulary - pieces,
                                " rows of the weights belong to no piece and were left out"));
  }
  return bert;
}

}  // namespace fovea
