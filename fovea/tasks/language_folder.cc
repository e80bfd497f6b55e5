#include "fovea/tasks/language_folder.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/language/load.h"
#include "fovea/models/language_names.h"
#include "fovea/tasks/architectures.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/language_adapter.h"
#include "fovea/tasks/take_sizes.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"
#include "fovea/training/run_folder.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

/// Activations under the names of transformers, and ours.
std::string activation_in(const HuggingFaceFolder& folder, const char* key, const char* usual) {
  const std::vector<std::pair<std::string, std::string>> names{
      {"gelu_new", "gelu-tanh"}, {"gelu_pytorch_tanh", "gelu-tanh"},
      {"gelu", "gelu"},          {"relu", "relu"},
      {"silu", "silu"},          {"swish", "silu"}};
  if (!folder.has(key)) return usual;
  std::vector<std::string> known;
  for (const auto& [theirs, ours] : names) known.push_back(theirs);
  const std::string found = folder.choice(key, known);
  return std::ranges::find(names, found, &std::pair<std::string, std::string>::first)->second;
}

LanguageModelOptions gpt2_options(const HuggingFaceFolder& folder) {
  folder.choice("scale_attn_weights", {"true"});
  folder.choice("scale_attn_by_inverse_layer_idx", {"false"});
  folder.choice("add_cross_attention", {"false"});
  LanguageModelOptions o;
  o.name = "gpt2";
  o.layers = folder.size("n_layer");
  o.hidden = folder.size("n_embd");
  o.heads = folder.size("n_head");
  o.feed_forward = folder.size_or("n_inner", 4 * o.hidden);
  o.maximum_length = folder.size("n_positions");
  o.activation = activation_in(folder, "activation_function", "gelu-tanh");
  o.epsilon = folder.number("layer_norm_epsilon", 1e-5);
  o.dropout = folder.number("resid_pdrop", 0.1);
  o.attention_dropout = folder.number("attn_pdrop", 0.1);
  o.tie_embeddings = folder.flag_or("tie_word_embeddings", true);
  return o;
}

/// rope_parameters, or rope_theta and rope_scaling of older folders.
RotaryOptions rotary_in(const HuggingFaceFolder& folder) {
  RotaryOptions rotary;
  rotary.base = folder.number("rope_theta", rotary.base);
  rotary.original_length = folder.size_or("original_max_position_embeddings", 8192);
  const Json& json = folder.json();
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!json.contains(key) || json[key].is_null()) continue;
    const Field scaling = folder.config().at(key);
    const auto number = [&](const char* name, double otherwise) {
      const auto found = scaling.find(name);
      return found ? found->finite() : otherwise;
    };
    std::string type = scaling.text_or_empty("rope_type");
    if (type.empty()) type = scaling.text_or_empty("type");
    require(type.empty() || type == "default" || type == "linear" || type == "llama3",
            ErrorKind::Unsupported, scaling.place(), ": rope_type is ", shorten_bytes(type, 200),
            "; only default, linear and llama3 are read");
    if (type == "linear" || type == "llama3") rotary.scaling = type;
    rotary.base = number("rope_theta", rotary.base);
    require(rotary.scaling == "none" || scaling.find("factor"), ErrorKind::BadData, scaling.place(),
            ": rope_type is ", rotary.scaling, ", but its factor is missing");
    rotary.factor = number("factor", rotary.factor);
    rotary.low = number("low_freq_factor", rotary.low);
    rotary.high = number("high_freq_factor", rotary.high);
    rotary.original_length =
        int64_t(number("original_max_position_embeddings", double(rotary.original_length)));
    require(number("partial_rotary_factor", 1) == 1, ErrorKind::Unsupported, scaling.place(),
            ": partial_rotary_factor is not 1; only whole heads are turned");
  }
  return rotary;
}

LanguageModelOptions llama_options(const HuggingFaceFolder& folder) {
  const std::string type = folder.model_type();
  LanguageModelOptions o;
  o.name = "llama";
  o.layers = folder.size("num_hidden_layers");
  o.hidden = folder.size("hidden_size");
  o.heads = folder.size("num_attention_heads");
  o.key_heads = folder.size_or("num_key_value_heads", o.heads);
  o.head_size = folder.size_or("head_dim", 0);
  o.feed_forward = folder.size("intermediate_size");
  o.maximum_length = folder.size("max_position_embeddings");
  o.activation = activation_in(folder, "hidden_act", "silu");
  o.epsilon = folder.number("rms_norm_eps", 1e-6);
  o.query_bias = type == "qwen2" || folder.flag_or("attention_bias", false);
  o.output_bias = type != "qwen2" && folder.flag_or("attention_bias", false);
  o.forward_bias = folder.flag_or("mlp_bias", false);
  o.rotary = rotary_in(folder);
  o.tie_embeddings = folder.flag_or("tie_word_embeddings", false);
  o.dropout = 0;
  o.attention_dropout = folder.number("attention_dropout", 0);
  if (type == "mistral") o.window = folder.size_or("sliding_window", 0);
  if (type == "qwen2") folder.choice("use_sliding_window", {"false"});
  return o;
}

PretrainedLanguage read_folder(const fs::path& path, const LanguageReading& how) {
  const HuggingFaceFolder folder(path);
  const Architecture& architecture = find_architecture(folder);
  require(architecture.task == "language", ErrorKind::InvalidArgument, folder.where(), ": ",
          architecture.name, " is a network of the task ", architecture.task,
          " and writes no text");
  PretrainedLanguage found;
  LanguageModelOptions& options = found.options;
  options = architecture.model == "gpt2" ? gpt2_options(folder) : llama_options(folder);
  OptionList list;  // its limits count here, too
  options.describe(list);
  try {
    list.merge(list.to_json(), folder.where());
  } catch (const Error& error) {
    fail(ErrorKind::BadData, folder.where(), ": ", error.what());
  }
  require(options.head_size > 0 || options.hidden % options.heads == 0, ErrorKind::BadData,
          folder.where(), ": a width of ", options.hidden, " cannot be cut into ", options.heads,
          " heads (n_embd and n_head, or hidden_size and num_attention_heads)");
  options = options.whole();
  require(found.options.head_size > 0 && found.options.heads % found.options.key_heads == 0,
          ErrorKind::BadData, folder.where(), ": ", found.options.heads,
          " heads do not fit a width of ", found.options.hidden, " and ", found.options.key_heads,
          " heads of keys");
  found.vocabulary = folder.size("vocab_size");
  found.ends = folder.token_ids("eos_token_id", found.vocabulary);
  const auto role = [&](const char* key) {
    const Json id = folder.json().value(key, Json());
    return id.is_number_integer() && id >= 0 && id < found.vocabulary ? id.get<int64_t>() : -1;
  };
  found.begin = role("bos_token_id");
  found.padding = role("pad_token_id");
  found.tokeniser = std::make_shared<const HuggingFaceTokeniser>(load_whole_tokeniser(path));
  require(found.tokeniser->size() <= found.vocabulary, ErrorKind::BadData, folder.where(),
          ": vocab_size is ", found.vocabulary, ", but the tokeniser has ", found.tokeniser->size(),
          " tokens");

  WeightMap weights;
  at::Tensor tied_output;  // which is the embedding, or should be
  const bool is_gpt2 = architecture.model == "gpt2";
  for (const auto& [name, tensor] : folder.weights(how.as_stored)) {
    // Older files of GPT-2 have no prefix, and masks of what is not to be seen.
    const bool is_mask = name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
                         name.ends_with("rotary_emb.inv_freq");
    const bool is_tied = found.options.tie_embeddings && name == "lm_head.weight";
    if (is_tied) tied_output = tensor;
    if (is_mask || is_tied) continue;
    const bool is_bare = is_gpt2 && !name.starts_with("transformer.") && name != "lm_head.weight";
    weights[is_bare ? "transformer." + name : name] = tensor;
  }
  const std::vector<WeightNames> names = language_names(found.options, found.vocabulary);
  check_weights(names, weights, path.string());
  if (tied_output.defined()) {
    const at::Tensor& embedding =
        weights.at(is_gpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight");
    const bool same_type = tied_output.scalar_type() == embedding.scalar_type();
    if (!same_type || !tied_output.equal(embedding))
      found.notes.push_back(concat(path.string(),
                                   ": its lm_head.weight is another than the embedding, but ",
                                   "tie_word_embeddings is true: the embedding is taken"));
  }
  found.weights = from_hugging_face(names, weights, how.as_stored);
  return found;
}

PretrainedLanguage read_run(const fs::path& path, const LanguageReading& how) {
  const RunFolder folder(path);
  const Json config = folder.read_config();
  require(config.value("task", "") == "language", ErrorKind::InvalidArgument, path.string(),
          ": a run of the task ", config.value("task", "?"), " is no language model");
  folder.check_assets();
  PretrainedLanguage found;
  found.weights = read_weights(folder);
  OptionList list;
  found.options.describe(list);
  list.merge(config.value("model", Json::object()), folder.config().string());
  const Json json = folder.read_asset(kLanguageAsset);
  const Field root = Field::root(json, folder.asset(kLanguageAsset).string());
  found.options.maximum_length = root.at("positions").integer(2, 1 << 24);
  found.options = found.options.whole();
  found.vocabulary = root.at("vocabulary").integer(1, 1 << 24);
  root.at("ends").each(
      {}, [&](const Field& one) { found.ends.push_back(one.integer(0, found.vocabulary - 1)); });
  found.tokeniser = std::make_shared<const HuggingFaceTokeniser>(
      read_asset_as<HuggingFaceTokeniser>(folder, kTokeniserAsset));
  if (found.options.lora_rank > 0) add_base(found, path, how);
  return found;
}

Json config_of(const PretrainedLanguage& model) {
  const LanguageModelOptions& o = model.options;
  const Json end = model.ends.empty()       ? Json()
                   : model.ends.size() == 1 ? Json(model.ends[0])
                                            : Json(model.ends);
  const Json begin = model.begin >= 0     ? Json(model.begin)
                     : model.ends.empty() ? Json()
                                          : Json(model.ends[0]);
  Json config{{"vocab_size", model.vocabulary},
              {"tie_word_embeddings", o.tie_embeddings},
              {"bos_token_id", begin},
              {"eos_token_id", end},
              {"torch_dtype", "float32"}};
  if (model.padding >= 0) config["pad_token_id"] = model.padding;
  if (o.name == "gpt2") {
    const std::string activation = o.activation == "gelu-tanh" ? "gelu_new" : o.activation;
    config.update({{"architectures", {"GPT2LMHeadModel"}},
                   {"model_type", "gpt2"},
                   {"n_layer", o.layers},
                   {"n_embd", o.hidden},
                   {"n_head", o.heads},
                   {"n_inner", o.feed_forward},
                   {"n_positions", o.maximum_length},
                   {"activation_function", activation},
                   {"layer_norm_epsilon", o.epsilon},
                   {"resid_pdrop", o.dropout},
                   {"embd_pdrop", o.dropout},
                   {"attn_pdrop", o.attention_dropout}});
    return config;
  }
  const bool qwen = o.query_bias && !o.output_bias;
  require(o.window == 0 || !qwen, ErrorKind::Unsupported,
          "transformers has no network with a window and biases of queries alone");
  const std::string type = qwen ? "qwen2" : o.window > 0 ? "mistral" : "llama";
  const std::string name = qwen ? "Qwen2" : o.window > 0 ? "Mistral" : "Llama";
  Json rope{{"rope_theta", o.rotary.base},
            {"rope_type", o.rotary.scaling == "none" ? "default" : o.rotary.scaling}};
  if (o.rotary.scaling != "none") rope["factor"] = o.rotary.factor;
  if (o.rotary.scaling == "llama3")
    rope.update({{"low_freq_factor", o.rotary.low},
                 {"high_freq_factor", o.rotary.high},
                 {"original_max_position_embeddings", o.rotary.original_length}});
  config.update({{"architectures", {name + "ForCausalLM"}},
                 {"model_type", type},
                 {"num_hidden_layers", o.layers},
                 {"hidden_size", o.hidden},
                 {"num_attention_heads", o.heads},
                 {"num_key_value_heads", o.key_heads},
                 {"head_dim", o.head_size},
                 {"intermediate_size", o.feed_forward},
                 {"max_position_embeddings", o.maximum_length},
                 {"hidden_act", o.activation == "gelu-tanh" ? "gelu_pytorch_tanh" : o.activation},
                 {"rms_norm_eps", o.epsilon},
                 {"attention_bias", o.output_bias},
                 {"mlp_bias", o.forward_bias},
                 {"attention_dropout", o.attention_dropout},
                 {"rope_theta", o.rotary.base},
                 {"rope_parameters", rope}});
  if (o.window > 0) config["sliding_window"] = o.window;
  return config;
}

}  // namespace

PretrainedLanguage read_language(const fs::path& path, const LanguageReading& how) {
  PretrainedLanguage found = is_adapter(path)        ? read_adapter(path, how)
                             : is_hugging_face(path) ? read_folder(path, how)
                                                     : read_run(path, how);
  found.path = fs::absolute(path).lexically_normal();
  if (how.merges) merge_adapters(found);
  return found;
}

void take_sizes(LanguageModelOptions& options, const PretrainedLanguage& start) {
  SizesOfStart sizes(options, start.options);
  sizes.take("layers", &LanguageModelOptions::layers);
  sizes.take("hidden", &LanguageModelOptions::hidden);
  sizes.take("heads", &LanguageModelOptions::heads);
  sizes.take("key_heads", &LanguageModelOptions::key_heads);
  sizes.take("feed_forward", &LanguageModelOptions::feed_forward);
  sizes.take("maximum_length", &LanguageModelOptions::maximum_length);
  sizes.check("network");
  LanguageModelOptions taken = start.options;
  taken.dropout = options.dropout;
  taken.attention_dropout = options.attention_dropout;
  if (start.options.lora_rank == 0) {
    taken.lora_rank = options.lora_rank;
    taken.lora_alpha = options.lora_alpha;
    taken.lora_dropout = options.lora_dropout;
    taken.lora_targets = options.lora_targets;
  }
  options = taken;
}

void take_weights(Model& model, const PretrainedLanguage& start) {
  torch::NoGradGuard no_gradients;
  for (auto& [name, own] : state_of(model)) {
    const auto found = start.weights.find(name);
    require(found != start.weights.end() && found->second.sizes() == own.sizes(),
            ErrorKind::Internal, "the weights '", name, "' do not fit this model");
    own.copy_(found->second);
  }
}

void write_language(const fs::path& folder, const PretrainedLanguage& model) {
  require(!fs::exists(folder / "config.json"), ErrorKind::InvalidArgument, folder.string(),
          ": holds a config.json already; choose another folder");
  require(model.options.pruned_heads.empty(), ErrorKind::Unsupported,
          "transformers has no language model without some of its heads");
  const std::vector<WeightNames> names = language_names(model.options, model.vocabulary);
  WeightMap theirs = to_hugging_face(names, model.weights);
  for (const auto& [name, shape] : shapes_of(names))  // theirs always has biases
    if (theirs.count(name) == 0) theirs[name] = at::zeros(shape);
  AtomicFolder whole(folder);
  write_safetensors(whole.path() / "model.safetensors", theirs, {{"format", "pt"}});
  model.tokeniser->save(whole.path() / "tokenizer.json");
  Json tokeniser{{"tokenizer_class", "PreTrainedTokenizerFast"},
                 {"model_max_length", model.options.maximum_length}};
  Json generation = Json::object();
  if (!model.ends.empty()) {
    const std::string& end = model.tokeniser->token(model.ends[0]);
    tokeniser["bos_token"] = tokeniser["eos_token"] = end;
    generation["eos_token_id"] = model.ends;
  }
  const auto tell_role = [&](int64_t id, const char* token, const char* number) {
    if (id < 0) return;
    generation[number] = id;
    if (id < model.tokeniser->size()) tokeniser[token] = model.tokeniser->token(id);
  };
  tell_role(model.begin, "bos_token", "bos_token_id");
  tell_role(model.padding, "pad_token", "pad_token_id");
  write_json_file(whole.path() / "tokenizer_config.json", tokeniser);
  write_json_file(whole.path() / "generation_config.json", generation);
  write_json_file(whole.path() / "config.json", config_of(model));
  whole.commit();
}

}  // namespace fovea
