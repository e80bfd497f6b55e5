#include "fovea/nn/transformer/bert_encoder.h"

#include "fovea/base/error.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

struct Size {
  const char* name;
  int64_t layers, hidden;
};
constexpr Size kSizes[] = {
    {"tiny", 2, 128}, {"mini", 4, 256}, {"small", 4, 512}, {"medium", 8, 512}, {"base", 12, 768}};
constexpr int64_t kHeadWidth = 64;
constexpr double kDeviation = 0.02;

TransformerLayerOptions layer_of(const BertOptions& o) {
  TransformerLayerOptions layer;
  layer.width = o.hidden;
  layer.heads = o.heads;
  layer.feed_forward = o.feed_forward;
  layer.norm = "post";
  layer.activation = "gelu";
  layer.dropout = o.dropout;
  layer.attention_dropout = o.attention_dropout;
  layer.epsilon = o.epsilon;
  return layer;
}

}  // namespace

void BertOptions::describe(OptionList& list) {
  std::vector<std::string> names;
  for (const Size& known : kSizes) names.push_back(known.name);
  list.add("size", size, "layers and width by name: 2 x 128, 4 x 256, 4 x 512, 8 x 512, 12 x 768")
      .choices(names);
  list.add("layers", layers, "stacked layers; 0: as model.size says").within(0, 64);
  list.add("hidden", hidden, "numbers per position; 0: as model.size says").at_least(0);
  list.add("heads", heads, "attention heads; must divide the width; 0: one for every 64 numbers")
      .at_least(0);
  list.add("feed_forward", feed_forward,
           "hidden units of the feed-forward network; 0: 4 x the width")
      .at_least(0);
  list.add("maximum_length", maximum_length, "positions, [CLS] and [SEP] included").at_least(3);
  list.add("segments", segments, "kinds of segment: 2 for pairs of texts; 0: none").at_least(0);
  list.add("first_position", first_position, "of the first token, as RoBERTa counts: 2")
      .at_least(0);
  list.add("embedding", embedding, "numbers per token in the tables, as in ELECTRA; 0: hidden")
      .at_least(0);
  list.add("pooler_activation", pooler_activation, "of the layer over the first token")
      .choices({"tanh", "relu", "gelu"});
  list.add("dropout", dropout, "of embeddings and of what each sublayer adds").rate();
  list.add("attention_dropout", attention_dropout, "of the attention weights").rate();
  list.add("epsilon", epsilon, "of the norms").above(0);
  list.add("pruned_heads", pruned_heads,
           "heads that were taken out, map.layer:head,…;… as attention.2:1,4; empty: none");
}

BertOptions BertOptions::whole() const {
  BertOptions filled = *this;
  for (const Size& known : kSizes) {
    if (size != known.name) continue;
    if (layers == 0) filled.layers = known.layers;
    if (hidden == 0) filled.hidden = known.hidden;
  }
  if (heads == 0) filled.heads = std::max<int64_t>(1, filled.hidden / kHeadWidth);
  if (feed_forward == 0) filled.feed_forward = 4 * filled.hidden;
  if (embedding == 0) filled.embedding = filled.hidden;
  return filled;
}

BertEncoder::BertEncoder(const BertOptions& options, int64_t vocabulary)
    : options_(options.whole()),
      tokens_(register_module("tokens", torch::nn::Embedding(vocabulary, options_.embedding))) {
  const BertOptions& o = options_;
  if (o.segments > 0)
    segments_ = register_module("segments", torch::nn::Embedding(o.segments, o.embedding));
  positions_ = register_module("positions",
                               std::make_shared<Positions>(PositionOptions{
                                   "learned", o.embedding, o.maximum_length + o.first_position}));
  norm_ = register_module("norm", std::make_shared<LayerNorm>(o.embedding, o.epsilon));
  if (o.embedding != o.hidden)
    widening_ = register_projection(*this, "widening", {o.embedding, o.hidden});
  encoder_ =
      register_module("encoder", std::make_shared<TransformerEncoder>(layer_of(o), o.layers));
  pooler_ = register_projection(*this, "pooler", {o.hidden, o.hidden});
  prune_heads(head_blocks(), parse_pruned_heads(options_.pruned_heads));
}

void BertEncoder::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  for (auto& item : named_parameters()) {
    Tensor value = item.value();
    const bool scale = item.key().find("norm") != std::string::npos;
    if (value.dim() == 2)
      value.copy_(random.split(item.key()).normal_tensor(value.sizes(), 0, kDeviation, at::kFloat));
    else
      value.fill_(scale && item.key().ends_with("weight") ? 1 : 0);
  }
}

Tensor BertEncoder::embed(const Tensor& tokens, Tap* tap) const {
  return leaf_of(tap, "tokens", embedding_lookup(tokens_->weight, tokens));
}

Tensor BertEncoder::forward(const BertInput& input, const Random* random, Tap* tap) const {
  const Tensor words = input.words.defined() ? input.words : embed(input.tokens, tap);
  Tensor x = positions_->add(words, options_.first_position);
  if (segments_)
    x = x + (input.segments.defined() ? embedding_lookup(segments_->weight, input.segments)
                                      : segments_->weight[0]);
  x = norm_->forward(x);  // [B, N, E]
  x = dropout(x, options_.dropout, random, "embedding");
  if (widening_) x = widening_->forward(x);  // [B, N, D]
  KeepMask mask = KeepMask::from_keep(input.keep);
  if (tap) mask = mask & KeepMask::from_queries(input.keep);
  std::optional<Random> own;
  if (random) own = random->split("encoder");
  return encoder_->forward(x, mask, {kMap, "tokens", "tokens"}, own, tap);
}

Tensor BertEncoder::pooled(const Tensor& hidden) const {
  const Tensor first = pooler_->forward(hidden.select(1, 0));
  return options_.pooler_activation == "tanh" ? first.tanh()
                                              : activate(first, options_.pooler_activation);
}

Tensor mean_of_real(const Tensor& hidden, const Tensor& keep) {
  const Tensor weight = keep.to(hidden.scalar_type()).unsqueeze(-1);  // [B, N, 1]
  return (hidden * weight).sum(1) / weight.sum(1).clamp_min(1);       // [B, D]
}

}  // namespace fovea
