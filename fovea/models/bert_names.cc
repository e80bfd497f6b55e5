#include "fovea/models/bert_names.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// `ours`.weight and .bias.
void add_norm(std::vector<WeightNames>& names, const std::string& ours, const std::string& theirs,
              int64_t width) {
  for (const char* part : {".weight", ".bias"})
    names.push_back({ours + part, {theirs + part}, {{width}}});
}

/// `name` with another ending where it ends in `old`.
std::string renamed(const std::string& name, const std::string& old, const std::string& now) {
  return name.ends_with(old) ? name.substr(0, name.size() - old.size()) + now : name;
}

/// How a family calls the parts of a layer.
struct FamilyNames {
  const char* family;  // model_type; also in front of every name
  const char* layer;   // then its number, from 0
  const char *query, *key, *value, *output, *first_norm, *up, *down, *last_norm;
  const char* pooler;
};
constexpr FamilyNames kBert{"bert",
                            "encoder.layer.",
                            "attention.self.query",
                            "attention.self.key",
                            "attention.self.value",
                            "attention.output.dense",
                            "attention.output.LayerNorm",
                            "intermediate.dense",
                            "output.dense",
                            "output.LayerNorm",
                            "pooler.dense"};
constexpr FamilyNames with_pooler(FamilyNames names, const char* family, const char* pooler) {
  names.family = family, names.pooler = pooler;
  return names;
}
constexpr FamilyNames kFamilies[] = {
    kBert,
    with_pooler(kBert, "roberta", "classifier.dense"),  // XLM-R's files say roberta, too
    with_pooler(kBert, "electra", "classifier.dense"),
    {"distilbert", "transformer.layer.", "attention.q_lin", "attention.k_lin", "attention.v_lin",
     "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm",
     "pre_classifier"}};

const FamilyNames& names_of(const std::string& family) {
  for (const FamilyNames& names : kFamilies)
    if (family == names.family) return names;
  fail(ErrorKind::Internal, "there is no family of encoders '", family, "'");
}

}  // namespace

std::vector<WeightNames> encoder_names(const BertOptions& o, int64_t vocabulary,
                                       const std::string& family) {
  const FamilyNames& theirs = names_of(family);
  const int64_t table = o.embedding > 0 ? o.embedding : o.hidden;
  std::vector<WeightNames> names{
      {"tokens.weight", {"embeddings.word_embeddings.weight"}, {{vocabulary, table}}},
      {"positions.weight",
       {"embeddings.position_embeddings.weight"},
       {{o.maximum_length + o.first_position, table}}}};
  if (o.segments > 0)
    names.push_back(
        {"segments.weight", {"embeddings.token_type_embeddings.weight"}, {{o.segments, table}}});
  add_norm(names, "norm", "embeddings.LayerNorm", table);
  if (table != o.hidden) add_linear(names, "widening", "embeddings_project", o.hidden, table);
  add_linear(names, "pooler", theirs.pooler, o.hidden, o.hidden);
  std::vector<int64_t> widths(size_t(o.layers), o.hidden);  // of the heads that a layer has
  for (const HeadPlace& gone : parse_pruned_heads(o.pruned_heads))
    widths.at(size_t(gone.layer - 1)) -= o.hidden / o.heads;
  for (int64_t i = 0; i < o.layers; ++i) {
    const int64_t width = widths[size_t(i)];
    const std::string own = concat("encoder.layers.", i), other = concat(theirs.layer, i, ".");
    const auto thirds = [&](const char* part) {
      return std::vector{concat(other, theirs.query, part), concat(other, theirs.key, part),
                         concat(other, theirs.value, part)};
    };
    const auto thrice = [](const std::vector<int64_t>& shape) { return std::vector(3, shape); };
    names.push_back(
        {own + ".self_attn.in_proj_weight", thirds(".weight"), thrice({width, o.hidden})});
    names.push_back({own + ".self_attn.in_proj_bias", thirds(".bias"), thrice({width})});
    add_linear(names, own + ".self_attn.out_proj", other + theirs.output, o.hidden, width);
    add_norm(names, own + ".norm1", other + theirs.first_norm, o.hidden);
    add_linear(names, own + ".linear1", other + theirs.up, o.feed_forward, o.hidden);
    add_linear(names, own + ".linear2", other + theirs.down, o.hidden, o.feed_forward);
    add_norm(names, own + ".norm2", other + theirs.last_norm, o.hidden);
  }
  return names;
}

std::vector<WeightNames> masked_head_names(int64_t hidden, int64_t vocabulary) {
  std::vector<WeightNames> names{{"masked.bias", {"cls.predictions.bias"}, {{vocabulary}}}};
  add_linear(names, "masked.dense", "cls.predictions.transform.dense", hidden, hidden);
  add_norm(names, "masked.norm", "cls.predictions.transform.LayerNorm", hidden);
  return names;
}

std::vector<WeightNames> next_head_names(int64_t hidden) {
  std::vector<WeightNames> names;
  add_linear(names, "next", "cls.seq_relationship", 2, hidden);
  return names;
}

std::string hugging_face_name(const std::string& name) {
  std::string plain = name;
  for (const FamilyNames& names : kFamilies)
    if (name.starts_with(concat(names.family, ".")))
      plain = name.substr(std::string_view(names.family).size() + 1);
  return renamed(renamed(plain, "LayerNorm.gamma", "LayerNorm.weight"), "LayerNorm.beta",
                 "LayerNorm.bias");
}

}  // namespace fovea
