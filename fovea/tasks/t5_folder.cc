#include "fovea/tasks/t5_folder.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/tokenisers/hugging_face/text_tokeniser.h"
#include "fovea/models/t5_names.h"
#include "fovea/tasks/architectures.h"
#include "fovea/tasks/outputs/sequence.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr const char *kTable = "shared.weight", *kOutput = "lm_head.weight";

/// A feed-forward network under the name that transformers has for it, feed_forward_proj.
struct FeedForwardName {
  const char* theirs;
  const char* activation;
  bool gated;
};
constexpr FeedForwardName kFeedForwards[] = {
    {"relu", "relu", false},
    {"gated-gelu", "gelu-tanh", true},  // there, too, it is gelu_new
    {"gelu_new", "gelu-tanh", false},
    {"gelu", "gelu", false},
    {"silu", "silu", false},
    {"gated-relu", "relu", true},
    {"gated-silu", "silu", true},
    {"gated-gelu_new", "gelu-tanh", true},
};

void read_feed_forward(const HuggingFaceFolder& folder, T5Options& o) {
  const char* key = "feed_forward_proj";
  std::vector<std::string> known;
  for (const FeedForwardName& row : kFeedForwards) known.emplace_back(row.theirs);
  const bool is_mt5 = folder.model_type() == "mt5";  // usual there: gated
  const std::string name = folder.has(key) || !is_mt5 ? folder.choice(key, known) : "gated-gelu";
  const auto* row = std::ranges::find(kFeedForwards, name, &FeedForwardName::theirs);
  o.activation = row->activation;
  o.gated = row->gated;
}

T5Options t5_options(const HuggingFaceFolder& folder) {
  folder.choice("is_encoder_decoder", {"true"});
  folder.choice("is_decoder", {"false"});
  T5Options o;
  o.hidden = folder.size("d_model");
  o.layers = folder.size("num_layers");
  o.decoder_layers = folder.size_or("num_decoder_layers", o.layers);
  o.heads = folder.size("num_heads");
  o.head_size = folder.size("d_kv");
  o.feed_forward = folder.size("d_ff");
  o.relative.buckets = folder.size_or("relative_attention_num_buckets", 32);
  o.relative.maximum_distance = folder.size_or("relative_attention_max_distance", 128);
  o.epsilon = folder.number("layer_norm_epsilon", 1e-6);
  o.dropout = folder.number("dropout_rate", 0.1);
  read_feed_forward(folder, o);
  o.tie_embeddings = folder.flag_or("tie_word_embeddings", folder.model_type() != "mt5");
  o.scale_output = folder.flag_or("scale_decoder_outputs", o.tie_embeddings) ? "yes" : "no";
  OptionList list;  // its limits count here, too
  o.describe(list);
  list.merge(options_json(o), folder.where());
  const bool fits = o.relative.buckets >= 4 && o.relative.maximum_distance > o.relative.buckets / 2;
  require(fits, ErrorKind::BadData, folder.where(), ": relative_attention_max_distance (",
          o.relative.maximum_distance,
          ") must be more than half of relative_attention_num_buckets (", o.relative.buckets,
          "), of which at least 4 are expected");
  return o;
}

/// The one token that plays this role.
int64_t token_in(const HuggingFaceFolder& folder, const char* key, int64_t vocabulary,
                 int64_t usual) {
  const std::vector<int64_t> found = folder.token_ids(key, vocabulary);
  require(found.size() <= 1, ErrorKind::Unsupported, folder.where(), ": ", key, " has ",
          found.size(), " tokens; one is read");
  return found.empty() ? usual : found[0];
}

PairTokenisers tokenisers_in(const HuggingFaceFolder& folder) {
  const int64_t vocabulary = folder.size("vocab_size");
  HuggingFaceTokeniser tokeniser = HuggingFaceTokeniser::load(folder.path());
  require(tokeniser.size() <= vocabulary, ErrorKind::BadData, folder.where(), ": vocab_size is ",
          vocabulary, ", but the tokeniser has ", tokeniser.size(), " tokens");
  Vocabulary::Special special;
  special.padding = token_in(folder, "pad_token_id", vocabulary, 0);
  require(special.padding == 0, ErrorKind::Unsupported, folder.where(), ": pad_token_id is ",
          special.padding, "; only 0 is read");
  special.begin = token_in(folder, "decoder_start_token_id", vocabulary, special.padding);
  special.end = token_in(folder, "eos_token_id", vocabulary, 1);
  require(special.end < vocabulary && special.end != special.padding, ErrorKind::BadData,
          folder.where(), ": eos_token_id is ", special.end,
          "; expected another token than padding, below vocab_size");
  special.unknown = std::max(special.padding, tokeniser.id("<unk>"));
  const auto both =
      std::make_shared<const HuggingFaceText>(std::move(tokeniser), vocabulary, special);
  return {both, both};
}

/// Tensors under their names of today; which table the output has is decided.
WeightMap plain_weights(const HuggingFaceFolder& folder, T5Options& o) {
  WeightMap weights;
  WeightMap copies;  // of the table: transformers ties them to it
  for (const auto& [name, tensor] : folder.weights()) {
    const bool is_copy =
        name == "encoder.embed_tokens.weight" || name == "decoder.embed_tokens.weight";
    // The first T5s had positions for their source in one layer, which nobody used.
    const bool is_unused = name.ends_with(".EncDecAttention.relative_attention_bias.weight");
    if (!is_unused) (is_copy ? copies : weights)[name] = tensor;
  }
  if (weights.count(kTable) == 0 && !copies.empty()) weights[kTable] = copies.begin()->second;
  const auto output = weights.find(kOutput), table = weights.find(kTable);
  if (output == weights.end()) return weights;
  if (table == weights.end() && o.tie_embeddings) {
    weights[kTable] = output->second;
    weights.erase(kOutput);
  } else if (table != weights.end() && o.tie_embeddings) {
    // transformers 5 writes tie_word_embeddings=true beside a matrix of the output's own.
    o.tie_embeddings = output->second.equal(table->second);
    if (o.tie_embeddings) weights.erase(kOutput);
  }
  return weights;
}

PretrainedT5 read_t5_folder(const fs::path& path) {
  const HuggingFaceFolder folder(path);
  const Architecture& architecture = find_architecture(folder);
  require(architecture.model == "t5", ErrorKind::InvalidArgument, folder.where(), ": ",
          architecture.name, " is a network of the task ", architecture.task,
          "; model.name=t5 begins with a T5");
  PretrainedT5 found;
  found.where = path.string();
  found.options = t5_options(folder);
  found.tokenisers = tokenisers_in(folder);
  const WeightMap weights = plain_weights(folder, found.options);
  const std::vector<WeightNames> names =
      t5_names(found.options, found.tokenisers.source->vocabulary().size());
  check_weights(names, weights, path.string());
  found.weights = from_hugging_face(names, weights);
  return found;
}

PretrainedT5 read_t5_run(const fs::path& path) {
  const RunFolder folder(path);
  const Json config = folder.read_config();
  const Json model = config.value("model", Json::object());
  require(model.value("name", "") == "t5", ErrorKind::InvalidArgument, path.string(),
          ": a run of the task ", config.value("task", "?"),
          " with model.name=", model.value("name", "?"), " is no T5");
  folder.check_assets();
  PretrainedT5 found;
  found.where = path.string();
  found.weights = read_weights(folder);
  OptionList list;
  found.options.describe(list);
  list.merge(model, folder.config().string());
  found.options = found.options.whole();
  found.tokenisers = load_tokenisers(folder);
  return found;
}

std::string feed_forward_name(const T5Options& o) {
  for (const FeedForwardName& row : kFeedForwards)
    if (o.activation == row.activation && o.gated == row.gated) return row.theirs;
  fail(ErrorKind::Unsupported, "transformers has no T5 with ", o.gated ? "gated " : "",
       o.activation, "; it has ", o.gated ? "gated gelu-tanh" : "gelu");
}

Json t5_config(const T5Options& o, const Vocabulary& vocabulary) {
  const Vocabulary::Special& special = vocabulary.special();
  return {{"architectures", {"T5ForConditionalGeneration"}},
          {"model_type", "t5"},
          {"is_encoder_decoder", true},
          {"vocab_size", vocabulary.size()},
          {"d_model", o.hidden},
          {"d_kv", o.head_size},
          {"d_ff", o.feed_forward},
          {"num_layers", o.layers},
          {"num_decoder_layers", o.decoder_layers},
          {"num_heads", o.heads},
          {"relative_attention_num_buckets", o.relative.buckets},
          {"relative_attention_max_distance", o.relative.maximum_distance},
          {"feed_forward_proj", feed_forward_name(o)},
          {"layer_norm_epsilon", o.epsilon},
          {"dropout_rate", o.dropout},
          {"tie_word_embeddings", o.tie_embeddings},
          {"scale_decoder_outputs", o.scales_output()},
          {"pad_token_id", special.padding},
          {"eos_token_id", special.end},
          {"decoder_start_token_id", special.begin},
          {"dtype", "float32"},
          {"torch_dtype", "float32"}};
}

}  // namespace

PretrainedT5 read_t5(const fs::path& run_or_folder) {
  return is_hugging_face(run_or_folder) ? read_t5_folder(run_or_folder)
                                        : read_t5_run(run_or_folder);
}

void take_sizes(T5Options& options, const T5Options& defaults, const PretrainedT5& start) {
  const Json asked = options_json(options), usual = options_json(defaults),
             there = options_json(start.options);
  std::vector<std::string> others;
  for (const auto& [key, value] : asked.items()) {
    const bool is_free = key == "dropout" || key == "label_smoothing";
    if (!is_free && value != usual[key] && value != there[key])
      others.push_back(concat("model.", key, "=",
                              value.is_string() ? value.get<std::string>() : value.dump(), " (",
                              there[key].dump(), " there)"));
  }
  require(others.empty(), ErrorKind::InvalidArgument,
          "--from brings the network's sizes with it; leave out ", join(others));
  T5Options taken = start.options;
  taken.dropout = options.dropout;
  taken.label_smoothing = options.label_smoothing;
  options = taken;
}

void write_t5(const fs::path& folder, const PretrainedT5& model) {
  const T5Options& o = model.options;
  require(!fs::exists(folder / "config.json"), ErrorKind::InvalidArgument, folder.string(),
          ": holds a config.json already; choose another folder");
  require(o.pruned_heads.empty(), ErrorKind::Unsupported,
          "transformers has no T5 without some of its heads");
  const auto* tokeniser = dynamic_cast<const HuggingFaceText*>(model.tokenisers.target.get());
  require(tokeniser != nullptr && model.tokenisers.source == model.tokenisers.target,
          ErrorKind::Unsupported, model.where,
          ": its tokenisers were learned with it and are no tokenizer.json, which transformers "
          "reads; train with --from a Hugging Face folder of T5");
  const Json config = t5_config(o, tokeniser->vocabulary());
  AtomicFolder whole(folder);
  write_safetensors(whole.path() / "model.safetensors",
                    to_hugging_face(t5_names(o, tokeniser->vocabulary().size()), model.weights),
                    {{"format", "pt"}});
  tokeniser->tokeniser().save(whole.path() / "tokenizer.json");
  const Vocabulary& symbols = tokeniser->vocabulary();
  write_json_file(whole.path() / "tokenizer_config.json",
                  {{"tokenizer_class", "PreTrainedTokenizerFast"},
                   {"pad_token", symbols.token(symbols.special().padding)},
                   {"eos_token", symbols.token(symbols.special().end)},
                   {"unk_token", symbols.token(symbols.special().unknown)}});
  Json generation = Json::object();
  for (const char* key : {"pad_token_id", "eos_token_id", "decoder_start_token_id"})
    generation[key] = config[key];
  write_json_file(whole.path() / "generation_config.json", generation);
  write_json_file(whole.path() / "config.json", config);
  whole.commit();
}

}  // namespace fovea
