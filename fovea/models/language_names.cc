#include "fovea/models/language_names.h"

#include <set>

#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea {

namespace {

using Names = std::vector<WeightNames>;

Names gpt2_names(const LanguageModelOptions& o, int64_t vocabulary) {
  Names names{{"tokens.weight", {"transformer.wte.weight"}, {{vocabulary, o.hidden}}},
              {"positions.weight", {"transformer.wpe.weight"}, {{o.maximum_length, o.hidden}}}};
  for (int64_t i = 0; i < o.layers; ++i) {
    const std::string own = concat("decoder.layers.", i), other = concat("transformer.h.", i);
    const int64_t width = o.hidden;
    names.push_back({own + ".self_attn.in_proj_weight",
                     {other + ".attn.c_attn.weight"},
                     {{width, 3 * width}},
                     /*transposed=*/true});
    names.push_back(
        {own + ".self_attn.in_proj_bias", {other + ".attn.c_attn.bias"}, {{3 * width}}});
    add_linear(names, own + ".self_attn.out_proj", other + ".attn.c_proj", width, width, true,
               /*transposed=*/true);
    add_linear(names, own + ".linear1", other + ".mlp.c_fc", o.feed_forward, width, true, true);
    add_linear(names, own + ".linear2", other + ".mlp.c_proj", width, o.feed_forward, true, true);
    add_layer_norm(names, own + ".norm1", other + ".ln_1", width);
    add_layer_norm(names, own + ".norm2", other + ".ln_2", width);
  }
  add_layer_norm(names, "decoder.norm", "transformer.ln_f", o.hidden);
  return names;
}

Names llama_names(const LanguageModelOptions& o, int64_t vocabulary) {
  Names names{{"tokens.weight", {"model.embed_tokens.weight"}, {{vocabulary, o.hidden}}}};
  const int64_t queries = o.heads * o.head_size, keys = o.key_heads * o.head_size;
  for (int64_t i = 0; i < o.layers; ++i) {
    const std::string own = concat("decoder.layers.", i), other = concat("model.layers.", i);
    const std::string self = other + ".self_attn.", mlp = other + ".mlp.";
    const auto thirds = [&](const char* part) {
      return std::vector{self + "q_proj." + part, self + "k_proj." + part, self + "v_proj." + part};
    };
    names.push_back({own + ".self_attn.in_proj_weight",
                     thirds("weight"),
                     {{queries, o.hidden}, {keys, o.hidden}, {keys, o.hidden}}});
    if (o.query_bias || o.output_bias)
      names.push_back(
          {own + ".self_attn.in_proj_bias", thirds("bias"), {{queries}, {keys}, {keys}}});
    add_linear(names, own + ".self_attn.out_proj", self + "o_proj", o.hidden, queries,
               o.output_bias);
    for (const char* part : {"weight", "bias"}) {
      if (part[0] == 'b' && !o.forward_bias) continue;
      const std::vector<int64_t> shape =
          part[0] == 'b' ? std::vector{o.feed_forward} : std::vector{o.feed_forward, o.hidden};
      names.push_back({concat(own, ".linear1.", part),
                       {concat(mlp, "gate_proj.", part), concat(mlp, "up_proj.", part)},
                       {shape, shape}});
    }
    add_linear(names, own + ".linear2", mlp + "down_proj", o.hidden, o.feed_forward,
               o.forward_bias);
    names.push_back({own + ".norm1.weight", {other + ".input_layernorm.weight"}, {{o.hidden}}});
    names.push_back(
        {own + ".norm2.weight", {other + ".post_attention_layernorm.weight"}, {{o.hidden}}});
  }
  names.push_back({"decoder.norm.weight", {"model.norm.weight"}, {{o.hidden}}});
  return names;
}

/// Whether PEFT would take the layer for the one that is meant.
bool is_meant(const std::string& layer, const std::string& target) {
  return target == "all-linear" || layer == target || layer.ends_with("." + target);
}

}  // namespace

std::vector<AdapterPlace> adapter_places(const LanguageModelOptions& o) {
  std::vector<AdapterPlace> places;
  if (o.lora_rank == 0) return places;
  std::set<std::string> known, found;
  for (const WeightNames& weight : language_names(o, 1)) {
    if (!weight.ours.starts_with("decoder.layers.") || weight.shapes[0].size() != 2) continue;
    int64_t first = 0;
    for (size_t i = 0; i < weight.theirs.size(); ++i) {
      AdapterPlace place;
      place.weight = weight.ours;
      place.theirs = weight.theirs[i].substr(0, weight.theirs[i].rfind('.'));
      place.first = first;
      place.rows = weight.shapes[i][weight.transposed ? 1 : 0];
      place.in = weight.shapes[i][weight.transposed ? 0 : 1];
      first += place.rows;
      place.owner = weight.ours.substr(0, weight.ours.rfind('.'));
      const std::string last = place.theirs.substr(place.theirs.rfind('.') + 1);
      place.name = "lora_" + last;
      known.insert(last);
      bool is_wanted = false;
      for (const std::string& target : o.lora_targets)
        if (is_meant(place.theirs, target)) is_wanted = true, found.insert(target);
      if (is_wanted) places.push_back(std::move(place));
    }
  }
  for (const std::string& target : o.lora_targets)
    require(found.count(target) > 0, ErrorKind::InvalidArgument, "model.lora_targets: no layer of ",
            o.name, " is called '", shorten_bytes(target, 200), "'; adapters go to ",
            join(std::vector<std::string>(known.begin(), known.end())), ", or all-linear");
  return places;
}

Names adapter_names(const LanguageModelOptions& o) {
  Names names;
  for (const AdapterPlace& place : adapter_places(o)) {
    const std::string ours = place.owner + "." + place.name,
                      theirs = "base_model.model." + place.theirs;
    names.push_back({ours + ".A", {theirs + ".lora_A.weight"}, {{o.lora_rank, place.in}}});
    names.push_back({ours + ".B", {theirs + ".lora_B.weight"}, {{place.rows, o.lora_rank}}});
  }
  return names;
}

Names language_names(const LanguageModelOptions& o, int64_t vocabulary) {
  Names names = o.name == "llama" ? llama_names(o, vocabulary) : gpt2_names(o, vocabulary);
  if (!o.tie_embeddings)
    names.push_back({"output_weight", {"lm_head.weight"}, {{vocabulary, o.hidden}}});
  return names;
}

}  // namespace fovea
