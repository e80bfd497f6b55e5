#include "fovea/models/t5_names.h"

#include "fovea/base/text.h"

namespace fovea {

namespace {

using Names = std::vector<WeightNames>;

/// One attention, `theirs`, as the part `ours`.
void add_attention(Names& names, const T5Options& o, const std::string& ours,
                   const std::string& theirs) {
  const int64_t inner = o.heads * o.head_size;
  const std::vector<int64_t> shape{inner, o.hidden};
  names.push_back({ours + ".in_proj_weight",
                   {theirs + ".q.weight", theirs + ".k.weight", theirs + ".v.weight"},
                   {shape, shape, shape}});
  add_linear(names, ours + ".out_proj", theirs + ".o", o.hidden, inner, /*bias=*/false);
}

void add_feed_forward(Names& names, const T5Options& o, const std::string& ours,
                      const std::string& theirs) {
  const std::vector<int64_t> shape{o.feed_forward, o.hidden};
  if (o.gated)
    names.push_back({ours + ".linear1.weight",
                     {theirs + ".wi_0.weight", theirs + ".wi_1.weight"},
                     {shape, shape}});
  else
    names.push_back({ours + ".linear1.weight", {theirs + ".wi.weight"}, {shape}});
  add_linear(names, ours + ".linear2", theirs + ".wo", o.hidden, o.feed_forward, /*bias=*/false);
}

/// A stack: "encoder" or "decoder" on both sides.
void add_stack(Names& names, const T5Options& o, const std::string& side, int64_t layers,
               bool looks_at_source) {
  const auto add_norm = [&](const std::string& ours, const std::string& theirs) {
    names.push_back({ours + ".weight", {theirs + ".weight"}, {{o.hidden}}});
  };
  names.push_back({side + ".relative.weight",
                   {side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
                   {{o.relative.buckets, o.heads}}});
  for (int64_t i = 0; i < layers; ++i) {
    const std::string own = concat(side, ".layers.", i);
    const std::string parts = concat(side, ".block.", i, ".layer.");
    int part = 0;  // of theirs; norm1 belongs to 0
    const auto next = [&] {
      const std::string theirs = concat(parts, part++);
      add_norm(concat(own, ".norm", part), theirs + ".layer_norm");
      return theirs;
    };
    add_attention(names, o, own + ".self_attn", next() + ".SelfAttention");
    if (looks_at_source)
      add_attention(names, o, own + ".multihead_attn", next() + ".EncDecAttention");
    add_feed_forward(names, o, own, next() + ".DenseReluDense");
  }
  add_norm(side + ".norm", side + ".final_layer_norm");
}

}  // namespace

Names t5_names(const T5Options& o, int64_t vocabulary) {
  Names names{{"source_embedding.weight", {"shared.weight"}, {{vocabulary, o.hidden}}}};
  add_stack(names, o, "encoder", o.layers, /*looks_at_source=*/false);
  add_stack(names, o, "decoder", o.decoder_layers, /*looks_at_source=*/true);
  if (!o.tie_embeddings)
    names.push_back({"output_weight", {"lm_head.weight"}, {{vocabulary, o.hidden}}});
  return names;
}

}  // namespace fovea
