#include "fovea/models/bert_names.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// `name` with another ending where it ends in `old`.
std::string renamed(const std::string& name, const std::string& old, const std::string& now) {
  return name.ends_with(old) ? name.substr(0, name.size() - old.size()) + now : name;
}

constexpr EncoderFamily kBert{.model_type = "bert",
                              .class_name = "Bert",
                              .prefix = "bert.",
                              .layer = "encoder.layer.",
                              .query = "attention.self.query",
                              .key = "attention.self.key",
                              .value = "attention.self.value",
                              .output = "attention.output.dense",
                              .first_norm = "attention.output.LayerNorm",
                              .up = "intermediate.dense",
                              .down = "output.dense",
                              .last_norm = "output.LayerNorm",
                              .pooler = "pooler.dense",
                              .classifier = "classifier",
                              .choice_pooler = "pooler.dense",
                              .masked_dense = "cls.predictions.transform.dense",
                              .masked_norm = "cls.predictions.transform.LayerNorm",
                              .masked_bias = "cls.predictions.bias",
                              .masked_table = "cls.predictions.decoder.weight",
                              .masked_table_bias = "cls.predictions.decoder.bias"};

/// RoBERTa's layout, which others have under their own names.
constexpr EncoderFamily roberta(const char* model_type, const char* class_name) {
  EncoderFamily names = kBert;
  names.model_type = model_type, names.class_name = class_name, names.prefix = "roberta.";
  names.pooler = "classifier.dense", names.classifier = "classifier.out_proj";
  names.masked_dense = "lm_head.dense", names.masked_norm = "lm_head.layer_norm";
  names.masked_bias = "lm_head.bias", names.masked_table = "lm_head.decoder.weight";
  names.masked_table_bias = "lm_head.decoder.bias";
  return names;
}

constexpr EncoderFamily electra() {
  EncoderFamily names = kBert;
  names.model_type = "electra", names.class_name = "Electra", names.prefix = "electra.";
  names.pooler = "classifier.dense", names.classifier = "classifier.out_proj";
  names.choice_pooler = "sequence_summary.summary";
  names.masked_dense = "generator_predictions.dense";
  names.masked_norm = "generator_predictions.LayerNorm";
  names.masked_bias = "generator_lm_head.bias", names.masked_table = "generator_lm_head.weight";
  names.masked_table_bias = nullptr;
  return names;
}

constexpr EncoderFamily kDistilBert{.model_type = "distilbert",
                                    .class_name = "DistilBert",
                                    .prefix = "distilbert.",
                                    .layer = "transformer.layer.",
                                    .query = "attention.q_lin",
                                    .key = "attention.k_lin",
                                    .value = "attention.v_lin",
                                    .output = "attention.out_lin",
                                    .first_norm = "sa_layer_norm",
                                    .up = "ffn.lin1",
                                    .down = "ffn.lin2",
                                    .last_norm = "output_layer_norm",
                                    .pooler = "pre_classifier",
                                    .classifier = "classifier",
                                    .choice_pooler = "pre_classifier",
                                    .masked_dense = "vocab_transform",
                                    .masked_norm = "vocab_layer_norm",
                                    .masked_bias = "vocab_projector.bias",
                                    .masked_table = "vocab_projector.weight",
                                    .masked_table_bias = nullptr};

// The table.
constexpr EncoderFamily kFamilies[] = {kBert,
                                       roberta("roberta", "Roberta"),
                                       roberta("xlm-roberta", "XLMRoberta"),
                                       roberta("camembert", "Camembert"),
                                       kDistilBert,
                                       electra()};

}  // namespace

std::span<const EncoderFamily> encoder_families() {
  return kFamilies;
}

const EncoderFamily& encoder_family(const std::string& model_type) {
  for (const EncoderFamily& family : kFamilies)
    if (model_type == family.model_type) return family;
  fail(ErrorKind::Internal, "there is no family of encoders '", model_type, "'");
}

const EncoderFamily& family_of(const BertOptions& options) {
  const BertOptions o = options.whole();
  const bool counts_from_0 = o.first_position == 0, wide = o.embedding == o.hidden;
  if (o.pooler_activation == "tanh" && counts_from_0 && wide && o.segments > 0)
    return encoder_family("bert");
  if (o.pooler_activation == "tanh" && !counts_from_0 && wide && o.segments > 0)
    return encoder_family("roberta");
  if (o.pooler_activation == "relu" && counts_from_0 && wide && o.segments == 0)
    return encoder_family("distilbert");
  if (o.pooler_activation == "gelu" && counts_from_0 && o.segments > 0)
    return encoder_family("electra");
  fail(ErrorKind::Unsupported,
       "transformers has no encoder with model.pooler_activation=", o.pooler_activation,
       ", model.first_position=", o.first_position, ", model.segments=", o.segments,
       " and model.embedding=", o.embedding, " of ", o.hidden);
}

const char* pooler_name(const EncoderFamily& family, EncoderHead head) {
  return head == EncoderHead::Choice ? family.choice_pooler : family.pooler;
}

std::vector<WeightNames> encoder_names(const BertOptions& o, int64_t vocabulary,
                                       const std::string& family, EncoderHead head) {
  const EncoderFamily& theirs = encoder_family(family);
  const int64_t table = o.embedding > 0 ? o.embedding : o.hidden;
  std::vector<WeightNames> names{
      {"tokens.weight", {"embeddings.word_embeddings.weight"}, {{vocabulary, table}}},
      {"positions.weight",
       {"embeddings.position_embeddings.weight"},
       {{o.maximum_length + o.first_position, table}}}};
  if (o.segments > 0)
    names.push_back(
        {"segments.weight", {"embeddings.token_type_embeddings.weight"}, {{o.segments, table}}});
  add_layer_norm(names, "norm", "embeddings.LayerNorm", table);
  if (table != o.hidden) add_linear(names, "widening", "embeddings_project", o.hidden, table);
  add_linear(names, "pooler", pooler_name(theirs, head), o.hidden, o.hidden);
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
    add_layer_norm(names, own + ".norm1", other + theirs.first_norm, o.hidden);
    add_linear(names, own + ".linear1", other + theirs.up, o.feed_forward, o.hidden);
    add_linear(names, own + ".linear2", other + theirs.down, o.hidden, o.feed_forward);
    add_layer_norm(names, own + ".norm2", other + theirs.last_norm, o.hidden);
  }
  return names;
}

std::vector<WeightNames> masked_head_names(const BertOptions& options, int64_t vocabulary,
                                           const std::string& family) {
  const EncoderFamily& theirs = encoder_family(family);
  const BertOptions o = options.whole();
  std::vector<WeightNames> names{{"masked.bias", {theirs.masked_bias}, {{vocabulary}}}};
  add_linear(names, "masked.dense", theirs.masked_dense, o.embedding, o.hidden);
  add_layer_norm(names, "masked.norm", theirs.masked_norm, o.embedding);
  return names;
}

std::vector<WeightNames> next_head_names(int64_t hidden) {
  std::vector<WeightNames> names;
  add_linear(names, "next", "cls.seq_relationship", 2, hidden);
  return names;
}

std::vector<WeightNames> output_head_names(EncoderHead head, int64_t hidden, int64_t numbers,
                                           const std::string& family) {
  std::vector<WeightNames> names;
  if (head == EncoderHead::Class)
    add_linear(names, "output", encoder_family(family).classifier, numbers, hidden);
  if (head == EncoderHead::Tags || head == EncoderHead::Choice)
    add_linear(names, "output", "classifier", numbers, hidden);
  if (head == EncoderHead::Answer) add_linear(names, "output", "qa_outputs", numbers, hidden);
  return names;
}

std::string hugging_face_name(const std::string& name) {
  std::string plain = name;
  for (const EncoderFamily& family : kFamilies)
    if (name.starts_with(family.prefix))
      plain = name.substr(std::string_view(family.prefix).size());
  return renamed(renamed(plain, "LayerNorm.gamma", "LayerNorm.weight"), "LayerNorm.beta",
                 "LayerNorm.bias");
}

}  // namespace fovea
