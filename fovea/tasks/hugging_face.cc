#include "fovea/tasks/hugging_face.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/tasks/hugging_face_folder.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr size_t kShownOfValue = 200;  // of a value, in a message

/// Any head will do.
const EncoderFamily& family_in(const HuggingFaceFolder& folder) {
  const std::string type = folder.model_type(), name = folder.architecture();
  std::vector<std::string> known;
  for (const EncoderFamily& family : encoder_families()) {
    const bool fits = name.empty() || name.starts_with(family.class_name);
    if (type == family.model_type && fits) return family;
    known.emplace_back(family.model_type);
  }
  fail(ErrorKind::Unsupported, folder.where(), ": model_type is ",
       type.empty() ? "none" : shorten_bytes(type, kShownOfValue), " and the architecture ",
       name.empty() ? "none" : shorten_bytes(name, kShownOfValue),
       "; encoders are read of the types ", join(known));
}

/// What an architecture has on its encoder, by the end of its name.
EncoderHead head_in(const std::string& architecture) {
  constexpr std::pair<const char*, EncoderHead> kHeads[] = {
      {"ForMaskedLM", EncoderHead::MaskedWords},
      {"BertForPreTraining", EncoderHead::MaskedWords},
      {"ForSequenceClassification", EncoderHead::Class},
      {"ForTokenClassification", EncoderHead::Tags},
      {"ForQuestionAnswering", EncoderHead::Answer},
      {"ForMultipleChoice", EncoderHead::Choice}};
  for (const auto& [end, head] : kHeads)
    if (architecture.ends_with(end)) return head;
  return EncoderHead::None;
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

/// How config.json calls the sizes.
struct SizeKeys {
  const char *layers, *hidden, *heads, *feed_forward, *dropout, *attention_dropout, *activation;
};
constexpr SizeKeys kUsualKeys{"num_hidden_layers",   "hidden_size",
                              "num_attention_heads", "intermediate_size",
                              "hidden_dropout_prob", "attention_probs_dropout_prob",
                              "hidden_act"};
constexpr SizeKeys kDistilBertKeys{
    "n_layers", "dim", "n_heads", "hidden_dim", "dropout", "attention_dropout", "activation"};

BertOptions options_of(const HuggingFaceFolder& folder, const EncoderFamily& family) {
  const std::string type = family.model_type;
  const bool distilled = type == "distilbert", electra = type == "electra";
  const bool counts_from_padding = std::string(family.prefix) == "roberta.";
  const SizeKeys& keys = distilled ? kDistilBertKeys : kUsualKeys;
  folder.choice(keys.activation, {"gelu"});
  folder.choice("position_embedding_type", {"absolute"});
  folder.choice("is_decoder", {"false"});
  const int64_t first =
      counts_from_padding ? folder.config().integer_or("pad_token_id", 1, 0, 1 << 20) + 1 : 0;
  const int64_t positions = folder.size("max_position_embeddings") - first;
  require(positions >= 3, ErrorKind::BadData, folder.where(), ": max_position_embeddings leaves ",
          positions, " positions for a text");
  BertOptions options;
  OptionList list;
  options.describe(list);
  list.merge({{"layers", folder.size(keys.layers)},
              {"hidden", folder.size(keys.hidden)},
              {"heads", folder.size(keys.heads)},
              {"feed_forward", folder.size(keys.feed_forward)},
              {"maximum_length", positions},
              {"first_position", first},
              {"segments", distilled ? 0 : folder.size_or("type_vocab_size", 2)},
              {"pooler_activation", distilled ? "relu"
                                    : electra ? "gelu"
                                              : "tanh"},
              {"dropout", folder.number(keys.dropout, 0.1)},
              {"attention_dropout", folder.number(keys.attention_dropout, 0.1)},
              {"epsilon", distilled ? 1e-12 : folder.number("layer_norm_eps", 1e-12)}},
             folder.where());
  if (electra && folder.has("embedding_size") && folder.size("embedding_size") != options.hidden)
    options.embedding = folder.size("embedding_size");
  require(options.hidden % options.heads == 0, ErrorKind::BadData, folder.where(), ": ", keys.heads,
          " (", options.heads, ") does not divide ", keys.hidden, " (", options.hidden, ")");
  options.pruned_heads = pruned_heads_of(folder.json(), options, folder.where());
  return options;
}

/// Tensors under today's names, without "bert." in front. What is no weight is left out.
WeightMap plain_weights(const HuggingFaceFolder& folder) {
  WeightMap weights;
  for (const auto& [name, tensor] : folder.weights()) {
    const std::string plain = hugging_face_name(name);
    if (plain.ends_with("_ids")) continue;  // position_ids: 0, 1, 2, …
    require(weights.emplace(plain, tensor).second, ErrorKind::BadData, folder.path().string(),
            ": holds the tensor '", plain, "' twice, with and without a prefix or an old name");
  }
  return weights;
}

bool belongs_to_encoder(const std::string& name, const EncoderFamily& family, EncoderHead head) {
  return name.starts_with("embeddings.") || name.starts_with("embeddings_project.") ||
         name.starts_with(family.layer) || name.starts_with("encoder.") ||
         name.starts_with(pooler_name(family, head));
}

/// The heads that pretraining has, out of `weights`, where they are whole.
void take_pretraining_heads(WeightMap& weights, int64_t vocabulary, const EncoderFamily& family,
                            WeightProblems& problems, PretrainedBert& bert) {
  const auto table = weights.find(family.masked_table);
  const auto words = weights.find("embeddings.word_embeddings.weight");
  const bool tied =
      table == weights.end() || (words != weights.end() && table->second.equal(words->second));
  if (!tied)
    bert.notes.push_back("the head for masked words has a matrix of its own, which is not read");
  if (family.masked_table_bias != nullptr)
    if (const auto bias = weights.find(family.masked_table_bias); bias != weights.end())
      weights.emplace(family.masked_bias, bias->second);
  for (const bool is_masked : {true, false}) {  // masked words, next sentence
    const auto names = is_masked ? masked_head_names(bert.options, vocabulary, family.model_type)
                                 : next_head_names(bert.options.hidden);
    const WeightShapes shapes = shapes_of(names);
    const bool whole = std::all_of(shapes.begin(), shapes.end(),
                                   [&](const auto& item) { return weights.count(item.first) > 0; });
    const bool wanted = is_masked && tied && bert.head == EncoderHead::MaskedWords;
    if (is_masked ? !tied || !(whole || wanted) : !whole) continue;
    problems.check(shapes, weights);
    bert.heads.merge(from_hugging_face(names, weights));
    for (const auto& [name, shape] : shapes) weights.erase(name);
    if (!is_masked) continue;
    weights.erase(family.masked_table);
    if (family.masked_table_bias != nullptr) weights.erase(family.masked_table_bias);
  }
}

/// The head of a classifier, a tagger, of answers to questions or choices among them.
void take_output_head(WeightMap& weights, const HuggingFaceFolder& folder,
                      const EncoderFamily& family, WeightProblems& problems, PretrainedBert& bert) {
  const bool labelled = bert.head == EncoderHead::Class || bert.head == EncoderHead::Tags;
  if (labelled) bert.labels = folder.labels();
  if (bert.head == EncoderHead::Class) bert.problem = folder.config().text_or_empty("problem_type");
  const int64_t numbers = labelled                           ? int64_t(bert.labels.size())
                          : bert.head == EncoderHead::Choice ? 1
                                                             : 2;
  const auto names = output_head_names(bert.head, bert.options.hidden, numbers, family.model_type);
  const WeightShapes shapes = shapes_of(names);
  problems.check(shapes, weights);
  bert.heads.merge(from_hugging_face(names, weights));
  for (const auto& [name, shape] : shapes) weights.erase(name);
}

}  // namespace

PretrainedBert read_hugging_face(const fs::path& path) {
  const HuggingFaceFolder folder(path);
  const EncoderFamily& family = family_in(folder);
  PretrainedBert bert;
  bert.options = options_of(folder, family);
  bert.head = head_in(folder.architecture());
  const int64_t vocabulary = folder.size("vocab_size");
  bert.tokeniser = PieceTokeniser::load(path);
  const int64_t pieces = bert.tokeniser->size();
  require(pieces <= vocabulary, ErrorKind::BadData, folder.where(), ": vocab_size is ", vocabulary,
          ", but the tokeniser has ", pieces, " pieces");

  WeightMap weights = plain_weights(folder);
  WeightProblems problems;
  const std::vector<WeightNames> names =
      encoder_names(bert.options, vocabulary, family.model_type, bert.head);
  WeightShapes wanted = shapes_of(names);
  const std::string pooler = pooler_name(family, bert.head);
  const bool has_pooler = weights.count(pooler + ".weight") + weights.count(pooler + ".bias") > 0;
  if (!has_pooler && bert.head != EncoderHead::Class && bert.head != EncoderHead::Choice) {
    std::erase_if(wanted, [&](const auto& item) { return item.first.starts_with(pooler + "."); });
    if (bert.head == EncoderHead::None)
      bert.notes.push_back("the folder has no pooler; it begins with fresh weights");
  }
  problems.check(wanted, weights);
  take_output_head(weights, folder, family, problems, bert);
  take_pretraining_heads(weights, vocabulary, family, problems, bert);
  for (const auto& [name, tensor] : weights) {
    if (wanted.count(name) > 0) continue;
    (belongs_to_encoder(name, family, bert.head) ? problems.unknown : problems.unused)
        .push_back(name);
  }
  problems.report(folder.weight_files().front().string());
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
