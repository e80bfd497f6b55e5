#include "fovea/models/language_model.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/models/language_names.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kNetworkDeviation = 0.02;
constexpr int64_t kNoTarget = -100;    // of cross_entropy()
constexpr int64_t kUsualLength = 100;  // new tokens, where decoding.maximum_length is 0

const MapLabel kTokens{LanguageModel::kMap, "tokens", "tokens"};

TransformerLayerOptions layer_of(const LanguageModelOptions& o) {
  const bool is_llama = o.name == "llama";
  TransformerLayerOptions layer;
  layer.width = o.hidden;
  layer.heads = o.heads;
  layer.key_heads = o.key_heads;
  layer.head_size = o.head_size;
  layer.feed_forward = o.feed_forward;
  layer.norm = "pre";
  layer.norm_name = is_llama ? "rms" : "layer";
  layer.activation = o.activation;
  layer.gated = is_llama;
  layer.bias = is_llama ? o.query_bias || o.output_bias : o.bias;
  layer.output_bias = is_llama ? o.output_bias : o.bias;
  layer.feed_forward_bias = is_llama ? o.forward_bias : o.bias;
  layer.looks_at_source = false;
  layer.positions = is_llama ? "rotary" : "none";
  layer.rotary = o.rotary;
  require(o.window != 1, ErrorKind::Unsupported,
          "a window of 1 (model.window, sliding_window) lets every token see itself alone; 0: all "
          "before it, or at least 2");
  layer.window = o.window > 0 ? o.window - 1 : 0;
  layer.dropout = o.dropout;
  layer.attention_dropout = o.attention_dropout;
  layer.epsilon = o.epsilon;
  return layer;
}

/// Weights may be narrower than what is computed with them.
Tensor widened(const Tensor& x) {
  return x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf ? x.to(at::kFloat) : x;
}

/// Each row's tokens moved by one: what position n should predict, kNoTarget behind the last.
Tensor next_tokens(const Batch& batch) {
  const Tensor &tokens = batch.at("tokens"), &keep = batch.at("tokens.keep");  // [B, N]
  const int64_t length = tokens.size(1) - 1;
  return tokens.narrow(1, 1, length).masked_fill(~keep.narrow(1, 1, length), kNoTarget);
}

/// log p of each target; 0 where there is none. logits [B, N, V], targets [B, N] -> [B, N]
Tensor log_likelihood(const Tensor& logits, const Tensor& targets) {
  const Tensor is_real = targets != kNoTarget;
  const Tensor chosen = at::log_softmax(logits, -1)
                            .gather(-1, targets.masked_fill(~is_real, 0).unsqueeze(-1))
                            .squeeze(-1);
  return chosen.masked_fill(~is_real, 0);
}

}  // namespace

void LanguageModelOptions::describe(OptionList& list) {
  list.add("name", name, "which layout: GPT-2's, or Llama's, which Mistral and Qwen2 share")
      .choices({"gpt2", "llama"});
  list.add("layers", layers, "stacked layers").within(1, 256);
  list.add("hidden", hidden, "numbers per position").at_least(1);
  list.add("heads", heads, "attention heads; must divide model.hidden").at_least(1);
  list.add("key_heads", key_heads,
           "heads of keys and values, which several heads share; 0: as many")
      .at_least(0);
  list.add("head_size", head_size, "numbers per head; 0: hidden / heads").at_least(0);
  list.add("feed_forward", feed_forward,
           "hidden units of the feed-forward network; 0: 4 x hidden, of llama two thirds of that")
      .at_least(0);
  list.add("maximum_length", maximum_length, "positions: the longest text").at_least(2);
  list.add("window", window, "a position sees itself and so many before it, less one; 0: all")
      .at_least(0);
  list.add("activation", activation, "of the feed-forward network; empty: as the layout has it")
      .choices({"", "relu", "gelu", "gelu-tanh", "silu"});
  list.add("bias", bias, "gpt2: projections have biases");
  list.add("query_bias", query_bias, "llama: queries, keys and values have a bias, as in Qwen2");
  list.add("output_bias", output_bias, "llama: what attention hands on has a bias");
  list.add("forward_bias", forward_bias, "llama: the feed-forward network has biases");
  list.add("rotary_base", rotary.base, "llama: base of the turns by position").above(1);
  list.add("rotary_scaling", rotary.scaling, "llama: slower turns for longer texts")
      .choices({"none", "linear", "llama3"});
  list.add("rotary_factor", rotary.factor, "how much slower").above(0);
  list.add("rotary_low", rotary.low, "llama3: turns in the original length that are slow").above(0);
  list.add("rotary_high", rotary.high, "llama3: turns in the original length that are fast")
      .above(0);
  list.add("rotary_length", rotary.original_length, "llama3: the original length").at_least(1);
  list.add("epsilon", epsilon, "of the norms; 0: as the layout has it").at_least(0);
  list.add("tie_embeddings", tie_embeddings, "the output matrix is the embedding");
  list.add("dropout", dropout, "of embeddings and of what each sublayer adds").rate();
  list.add("attention_dropout", attention_dropout, "of the attention weights").rate();
  list.add("pruned_heads", pruned_heads,
           "heads that were taken out, map.layer:head,…;… as attention.2:1,4; empty: none");
  list.add("lora_rank", lora_rank,
           "low-rank adapters (LoRA): with --from only they learn, of this rank; 0: none")
      .within(0, 4096);
  list.add("lora_alpha", lora_alpha, "what adapters add counts by lora_alpha / lora_rank").above(0);
  list.add("lora_dropout", lora_dropout, "of what adapters are given").rate();
  list.add("lora_targets", lora_targets,
           "layers with adapters, as Hugging Face names them (c_attn; q_proj,v_proj), or "
           "all-linear; empty: these");
}

LanguageModelOptions LanguageModelOptions::whole() const {
  LanguageModelOptions filled = *this;
  const bool is_llama = name == "llama";
  if (key_heads == 0) filled.key_heads = heads;
  if (head_size == 0) filled.head_size = hidden / std::max<int64_t>(1, heads);
  if (feed_forward == 0) filled.feed_forward = is_llama ? 8 * hidden / 3 : 4 * hidden;
  if (activation.empty()) filled.activation = is_llama ? "silu" : "gelu-tanh";
  if (epsilon == 0) filled.epsilon = is_llama ? 1e-6 : 1e-5;
  if (lora_rank > 0 && lora_targets.empty())
    filled.lora_targets = is_llama ? std::vector<std::string>{"q_proj", "v_proj"}
                                   : std::vector<std::string>{"c_attn"};
  return filled;
}

LanguageModel::LanguageModel(LanguageModelOptions options, SearchOptions search,
                             LanguageShape shape)
    : options_(options.whole()),
      search_(std::move(search)),
      shape_(shape),
      tokens_(register_module(
          "tokens", torch::nn::Embedding(
                        torch::nn::EmbeddingOptions(shape.vocabulary, options_.hidden)
                            ._weight(undecided_weight({shape.vocabulary, options_.hidden}))))) {
  require(options.head_size > 0 || options_.hidden % options_.heads == 0,
          ErrorKind::InvalidArgument, "model.heads=", options_.heads,
          " does not divide model.hidden=", options_.hidden);
  if (options_.name == "gpt2")
    positions_ =
        register_module("positions", std::make_shared<Positions>(PositionOptions{
                                         "learned", options_.hidden, options_.maximum_length}));
  decoder_ = register_module(
      "decoder", std::make_shared<TransformerDecoder>(layer_of(options_), options_.layers));
  if (!options_.tie_embeddings)
    output_weight_ =
        register_parameter("output_weight", undecided_weight({shape_.vocabulary, options_.hidden}));
  prune_heads(head_blocks(), parse_pruned_heads(options_.pruned_heads));
  add_adapters();
}

void LanguageModel::add_adapters() {
  const LowRankOptions own{options_.lora_rank, options_.lora_alpha, options_.lora_dropout};
  require(options_.lora_rank == 0 || options_.pruned_heads.empty(), ErrorKind::Unsupported,
          "low-rank adapters do not go with model.pruned_heads");
  const auto modules = named_modules("", /*include_self=*/false);
  for (const AdapterPlace& place : adapter_places(options_)) {
    torch::nn::Module& owner = *modules[place.owner];
    const AdaptedRows rows{place.first, place.rows};
    if (auto* attention = dynamic_cast<MultiHeadAttention*>(&owner))
      attention->adapters.add(owner, place.name, attention->in_proj_weight, rows, own);
    else if (auto* layer = dynamic_cast<Projection*>(&owner))
      layer->adapters.add(owner, place.name, layer->weight, rows, own);
    else
      fail(ErrorKind::Internal, "there is no place for an adapter of ", place.weight);
  }
}

void LanguageModel::adopt(const WeightMap& weights, const std::string& where) {
  std::set<std::string> own;
  for (const WeightNames& adapter : adapter_names(options_)) own.insert(adapter.ours);
  std::vector<std::string> problems;
  for (auto& item : named_parameters()) {
    if (own.count(item.key()) > 0) continue;
    const auto found = weights.find(item.key());
    if (found == weights.end())
      problems.push_back(item.key() + " is missing");
    else if (found->second.sizes() != item.value().sizes())
      problems.push_back(
          concat(item.key(), " is ", found->second.sizes(), " instead of ", item.value().sizes()));
    if (!problems.empty()) continue;
    item.value().set_requires_grad(false);
    item.value().set_data(found->second);
    adopted_.insert(item.key());
  }
  require(problems.empty(), ErrorKind::BadData, where,
          ": its weights do not fit this network: ", join(problems));
}

Tensor LanguageModel::merged_weight(const std::string& name) const {
  const std::string owner = name.substr(0, name.rfind('.'));
  const auto modules = named_modules("", /*include_self=*/false);
  const Tensor weight = named_parameters()[name].detach();
  if (!modules.contains(owner)) return weight;
  if (auto* attention = dynamic_cast<MultiHeadAttention*>(modules[owner].get()))
    return name.ends_with("weight") ? attention->adapters.merged(weight) : weight;
  if (auto* layer = dynamic_cast<Projection*>(modules[owner].get()))
    return name.ends_with("weight") ? layer->adapters.merged(weight) : weight;
  return weight;
}

void LanguageModel::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  const double added = kNetworkDeviation / std::sqrt(2.0 * double(options_.layers));
  for (auto& item : named_parameters()) {
    const std::string& name = item.key();
    if (!saves(name)) continue;
    const bool is_added = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight");
    if (item.value().dim() == 2)
      initialise_normal(item.value(), is_added ? added : kNetworkDeviation, random.split(name));
    else
      item.value().fill_(name.find("norm") != std::string::npos && name.ends_with("weight") ? 1
                                                                                            : 0);
  }
  for (const auto& item : named_modules("", /*include_self=*/false))
    if (auto adapter = std::dynamic_pointer_cast<LowRankAdapter>(item.value()))
      adapter->initialise(random.split(item.key()));
}

Schema LanguageModel::schema() const {
  return {{"tokens", at::kLong, {-1, -1}}, {"tokens.keep", at::kBool, {-1, -1}}};
}

std::vector<LayerSummary> LanguageModel::summary() const {
  const LanguageModelOptions& o = options_;
  const int64_t places = positions_ ? count_parameters(*positions_) : 0;
  int64_t adapters = 0;
  for (const WeightNames& adapter : adapter_names(o))
    adapters += adapter.shapes[0][0] * adapter.shapes[0][1];
  std::vector<LayerSummary> layers{
      {concat("embedding (", shape_.vocabulary, " tokens)"),
       {o.hidden},
       count_parameters(*tokens_) + places},
      {concat(o.name, " (", o.layers, " layers, ", o.heads, " heads",
              o.key_heads < o.heads ? concat(" on ", o.key_heads) : "", ")"),
       {o.hidden},
       count_parameters(*decoder_) - adapters},
      {o.tie_embeddings ? "output (softmax, tied)" : "output (softmax)",
       {shape_.vocabulary},
       output_weight_.defined() ? output_weight_.numel() : 0}};
  if (adapters > 0)
    layers.push_back(
        {concat("adapters (rank ", o.lora_rank, ", ", join(o.lora_targets), "): only they learn"),
         {o.hidden},
         adapters});
  return layers;
}

ParameterRule LanguageModel::rule_of(const std::string& name) const {
  const bool is_adapter = name.find(".lora_") != std::string::npos;
  const bool is_matrix = name.ends_with("weight") && name.find("norm") == std::string::npos;
  return {1, is_matrix || is_adapter};  // as GPT-2 and its followers have it
}

Tensor LanguageModel::embed(const Tensor& tokens, int64_t first, const Tensor& erased) const {
  require(first + tokens.size(1) <= options_.maximum_length, ErrorKind::BadData, "a text of ",
          first + tokens.size(1), " tokens does not fit the ", options_.maximum_length,
          " positions of the network (model.maximum_length)");
  Tensor x = widened(embedding_lookup(tokens_->weight, tokens));  // [B, N, D]
  if (erased.defined()) {
    const int64_t missing = tokens.size(1) - erased.size(1);
    const Tensor gone = missing >= 0 ? at::constant_pad_nd(erased, {0, missing})
                                     : erased.narrow(1, 0, tokens.size(1));  // [B, N]
    x = at::where(gone.unsqueeze(-1), widened(tokens_->weight.mean(0)), x);
  }
  return positions_ ? positions_->add(x, first) : x;
}

Tensor LanguageModel::states(const Tensor& tokens, const Random* random, Tap* tap,
                             const Tensor& erased) const {
  Tensor x = leaf_of(tap, "tokens", embed(tokens, 0, erased));  // [B, N, D]
  x = dropout(x, options_.dropout, random, "embedding");
  std::vector<TransformerMemory> memories(size_t(options_.layers));
  std::optional<Random> own;
  if (random) own = random->split("decoder");
  return decoder_->forward(x, memories, kTokens, {}, own, tap);
}

Tensor LanguageModel::go_on(const Tensor& tokens, int64_t seen,
                            std::vector<TransformerMemory>& memories) const {
  return decoder_->step(embed(tokens, seen), seen, memories);  // [B, N, D]
}

OutputLayer LanguageModel::output_layer() const {
  return {output_weight_.defined() ? output_weight_ : tokens_->weight, {}};
}

Tensor LanguageModel::logits(const Tensor& states) const {
  return linear_layer(states, output_layer().weight, {});
}

Loss LanguageModel::loss(const Batch& batch, const StepContext& context) {
  const bool draws =
      options_.dropout > 0 || options_.attention_dropout > 0 || options_.lora_dropout > 0;
  const Tensor targets = next_tokens(batch);  // [B, N - 1]
  const Tensor inputs = batch.at("tokens").narrow(1, 0, targets.size(1));
  const Tensor x = states(inputs, draws ? &context.random : nullptr, nullptr);
  Loss loss;
  loss.units = (targets != kNoTarget).sum();
  loss.objective =
      cross_entropy(x.flatten(0, 1), output_layer(), targets.flatten(), {0, kNoTarget});
  return loss;
}

TextLikelihood LanguageModel::negative_log_likelihood(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor targets = next_tokens(batch);
  const Tensor inputs = batch.at("tokens").narrow(1, 0, targets.size(1));
  const Tensor likelihood = log_likelihood(logits(states(inputs, nullptr, nullptr)), targets);
  const Tensor known = targets != kNoTarget;  // [B, T]
  return {-likelihood.sum(at::kDouble).item<double>(), known.sum().item<int64_t>(),
          -likelihood.sum(1, false, at::kDouble).cpu(), known.sum(1).cpu()};
}

Predictions LanguageModel::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  Predictions predictions;
  const Tensor lengths = batch.at("tokens.keep").sum(1).cpu();  // [B]
  for (int64_t row = 0; row < batch.size; ++row) {
    Continuation one;
    one.prompt = batch.at("tokens")[row].narrow(0, 0, lengths[row].item<int64_t>());
    one.search = search_;
    predictions.outputs.push_back(generate(one));
  }
  return predictions;
}

std::vector<Decoded> LanguageModel::generate(const Continuation& c) const {
  torch::NoGradGuard no_gradients;
  const int64_t length = c.prompt.size(0), most = options_.maximum_length, room = most - length;
  require(length > 0, ErrorKind::BadData, "the prompt is empty: it needs one token at least");
  require(room > 0, ErrorKind::BadData, "the prompt has ", length, " tokens, which leaves no room ",
          "for more in the ", most, " positions of the network (model.maximum_length)");
  const int64_t wanted = c.search.maximum_length > 0 ? c.search.maximum_length : kUsualLength;
  std::vector<TransformerMemory> memories(size_t(options_.layers));
  Tensor text;       // int64 [R, N]: all that is there
  int64_t seen = 0;  // tokens that the memories hold
  WrittenToken newest;
  SearchProblem problem;
  problem.inputs = 1;
  problem.begin = c.prompt[length - 1].item<int64_t>();
  problem.end = shape_.end;
  problem.forbidden = shape_.forbidden;
  problem.maximum_length = {c.slides ? wanted : std::min(room, wanted)};
  problem.numbers = {c.number};
  problem.device = c.prompt.device();
  if (c.search.repetition_penalty != 1) {
    const Tensor ids = c.prompt.cpu().contiguous();
    problem.prompts = {{ids.data_ptr<int64_t>(), ids.data_ptr<int64_t>() + length}};
  }
  if (c.ends || shape_.ends)
    problem.ends = [&](int64_t, std::span<const int64_t> made) {
      return (shape_.ends && shape_.ends(made)) || (c.ends && c.ends(made));
    };
  if (c.written)
    problem.chosen = [&](int64_t, int64_t token, double log_probability) {
      newest.token = token;
      newest.log_probability = log_probability;
      c.written(newest);
    };
  const auto found = search(c.search, problem, [&](const StepInput& in) -> StepOutput {
    if (in.origin.defined()) {
      for (TransformerMemory& memory : memories) memory = memory.select(in.origin);
      if (text.defined()) text = text.index_select(0, in.origin);
    }
    Tensor tokens = in.tokens.unsqueeze(1);  // [R, N]
    if (in.position == 0) tokens = c.prompt.unsqueeze(0).expand({in.tokens.size(0), length});
    text = text.defined() ? at::cat({text, tokens}, 1) : tokens;
    if (seen + tokens.size(1) > most) {  // with room for some before this is done again
      tokens = text.narrow(1, text.size(1) - (most - most / 4), most - most / 4);
      memories.assign(memories.size(), {});
      seen = 0;
    }
    const Tensor x = go_on(tokens, seen, memories);  // [R, N, D]
    seen += tokens.size(1);
    newest.attention.clear();
    if (c.attention) {  // all once more: what is cached has no map
      Tap tap;
      states(text.narrow(1, text.size(1) - seen, seen), nullptr, &tap);
      for (const AttentionMap& map : tap.maps())
        newest.attention.push_back(map.weights[0].select(1, -1));  // [H, K]
    }
    const Tensor scores = logits(x.select(1, -1)).to(at::kFloat);  // [R, V]
    return {at::log_softmax(scores, -1), {}, {}, scores};
  });
  std::vector<Decoded> outputs;
  for (const Hypothesis& one : found[0]) outputs.push_back({one.tokens, one.log_probability, ""});
  return outputs;
}

Tensor LanguageModel::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor lengths = batch.at("tokens.keep").sum(1).cpu();  // [B]
  int64_t longest = 0, most = 0;
  for (int64_t row = 0; row < batch.size; ++row) {
    const auto made = int64_t(predictions.outputs[size_t(row)].at(0).tokens.size());
    longest = std::max(longest, lengths[row].item<int64_t>() + made);
    most = std::max(most, made);
  }
  const auto numbers = at::TensorOptions(at::kLong);
  Tensor whole = at::zeros({batch.size, longest}, numbers);              // prompt and continuation
  Tensor targets = at::full({batch.size, longest}, kNoTarget, numbers);  // of the continuation
  const Tensor prompts = batch.at("tokens").cpu();
  for (int64_t row = 0; row < batch.size; ++row) {
    const int64_t length = lengths[row].item<int64_t>();
    const auto& made = predictions.outputs[size_t(row)][0].tokens;
    const auto count = int64_t(made.size());
    const Tensor tokens = torch::tensor(made, numbers);
    whole[row].narrow(0, 0, length).copy_(prompts[row].narrow(0, 0, length));
    whole[row].narrow(0, length, count).copy_(tokens);
    if (count > 0) targets[row].narrow(0, length - 1, count).copy_(tokens);
  }
  const Tensor likelihood =
      log_likelihood(logits(states(whole.narrow(1, 0, longest - 1).to(device()), nullptr, tap,
                                   batch.has("erased") ? batch.at("erased") : Tensor())),
                     targets.narrow(1, 0, longest - 1).to(device()));  // [B, N - 1]
  Tensor units = at::zeros({batch.size, most}, likelihood.options());
  for (int64_t row = 0; row < batch.size; ++row) {
    const auto count = int64_t(predictions.outputs[size_t(row)][0].tokens.size());
    const int64_t first = lengths[row].item<int64_t>() - 1;
    if (count > 0) units[row].narrow(0, 0, count).copy_(likelihood[row].narrow(0, first, count));
  }
  return units;
}

}  // namespace fovea
