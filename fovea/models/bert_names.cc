#include "fovea/models/bert_names.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

void add_norm(std::vector<WeightNames>& names, const std::string& ours, const std::string& theirs,
              int64_t width) {
  for (const char* part : {".weight", ".bias"})
    names.push_back({ours + part, {theirs + ".LayerNorm" + part}, {{width}}});
}

/// `name` with another ending where it ends in `old`.
std::string renamed(const std::string& name, const std::string& old, const std::string& now) {
  return name.ends_with(old) ? name.substr(0, name.size() - old.size()) + now : name;
}

}  // namespace

std::vector<WeightNames> encoder_names(const BertOptions& o, int64_t vocabulary) {
  std::vector<WeightNames> names{
      {"tokens.weight", {"embeddings.word_embeddings.weight"}, {{vocabulary, o.hidden}}},
      {"positions.weight",
       {"embeddings.position_embeddings.weight"},
       {{o.maximum_length, o.hidden}}},
      {"segments.weight", {"embeddings.token_type_embeddings.weight"}, {{o.segments, o.hidden}}}};
  add_norm(names, "norm", "embeddings", o.hidden);
  add_linear(names, "pooler", "pooler.dense", o.hidden, o.hidden);
  std::vector<int64_t> widths(size_t(o.layers), o.hidden);  // of the heads that a layer has
  for (const HeadPlace& gone : parse_pruned_heads(o.pruned_heads))
    widths.at(size_t(gone.layer - 1)) -= o.hidden / o.heads;
  for (int64_t i = 0; i < o.layers; ++i) {
    const int64_t width = widths[size_t(i)];
    const std::string own = concat("encoder.layers.", i), other = concat("encoder.layer.", i);
    const std::string self = other + ".attention.self.";
    const auto thirds = [&](const char* part) {
      return std::vector{self + "query." + part, self + "key." + part, self + "value." + part};
    };
    const auto thrice = [](std::vector<int64_t> shape) { return std::vector(3, shape); };
    names.push_back(
        {own + ".self_attn.in_proj_weight", thirds("weight"), thrice({width, o.hidden})});
    names.push_back({own + ".self_attn.in_proj_bias", thirds("bias"), thrice({width})});
    add_linear(names, own + ".self_attn.out_proj", other + ".attention.output.dense", o.hidden,
               width);
    add_norm(names, own + ".norm1", other + ".attention.output", o.hidden);
    add_linear(names, own + ".linear1", other + ".intermediate.dense", o.feed_forward, o.hidden);
    add_linear(names, own + ".linear2", other + ".output.dense", o.hidden, o.feed_forward);
    add_norm(names, own + ".norm2", other + ".output", o.hidden);
  }
  return names;
}

std::vector<WeightNames> masked_head_names(int64_t hidden, int64_t vocabulary) {
  std::vector<WeightNames> names{{"masked.bias", {"cls.predictions.bias"}, {{vocabulary}}}};
  add_linear(names, "masked.dense", "cls.predictions.transform.dense", hidden, hidden);
  add_norm(names, "masked.norm", "cls.predictions.transform", hidden);
  return names;
}

std::vector<WeightNames> next_head_names(int64_t hidden) {
  std::vector<WeightNames> names;
  add_linear(names, "next", "cls.seq_relationship", 2, hidden);
  return names;
}

std::string hugging_face_name(const std::string& name) {
  const std::string plain = name.starts_with("bert.") ? name.substr(5) : name;
  return renamed(renamed(plain, "LayerNorm.gamma", "LayerNorm.weight"), "LayerNorm.beta",
                 "LayerNorm.bias");
}

}  // namespace fovea
