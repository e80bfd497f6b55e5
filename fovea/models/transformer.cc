#include "fovea/models/transformer.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void TransformerOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"transformer"});
  describe_layers(list);
  list.add("heads", heads, "attention heads; must divide model.hidden").at_least(1);
  list.add("key_heads", key_heads,
           "heads of keys and values, which several heads share; 0: as many")
      .at_least(0);
  list.add("feed_forward", feed_forward, "hidden units of the feed-forward network; 0: 4 x hidden")
      .at_least(0);
  list.add("norm", norm, "where a layer normalises: post, as the paper; pre, steadier to train")
      .choices({"post", "pre"});
  list.add("activation", activation, "of the feed-forward network").choices({"relu", "gelu"});
  list.add("positions", positions,
           "sinusoidal or learned: added to the embeddings; rotary, alibi: part of the scores")
      .choices({"sinusoidal", "learned", "rotary", "alibi"});
  list.add("maximum_length", maximum_length, "learned positions: how many there are").at_least(1);
  list.add("window", window, "a position looks at most so far at its own sequence; 0: everywhere")
      .at_least(0);
  list.add("dropout", dropout,
           "of embeddings, of what each sublayer adds, in the feed-forward network")
      .rate();
  list.add("attention_dropout", attention_dropout, "of the attention weights").rate();
  list.add("tie_embeddings", tie_embeddings, "the output matrix is the target's embedding");
  list.add("label_smoothing", label_smoothing, "share of the target spread over all symbols")
      .rate();
  list.add("pruned_heads", pruned_heads,
           "heads that were taken out, map.layer:head,…;… as encoder.1:2,5; empty: none");
}

Transformer::Transformer(TransformerOptions options, SearchOptions search, SequenceShape shape)
    : EncoderDecoder(std::move(search), shape), options_(std::move(options)) {
  auto& o = options_;
  o.fill_in_zeros();
  const bool added = o.positions == "sinusoidal" || o.positions == "learned";
  const PositionOptions positions{added ? o.positions : "none", o.hidden, o.maximum_length};
  TransformerLayerOptions layer;
  layer.width = o.hidden;
  layer.heads = o.heads;
  layer.key_heads = o.key_heads;
  layer.feed_forward = o.feed_forward;
  layer.norm = o.norm;
  layer.activation = o.activation;
  layer.positions = added ? "none" : o.positions;
  layer.window = o.window;
  layer.dropout = layer.hidden_dropout = o.dropout;
  layer.attention_dropout = o.attention_dropout;

  register_tables(o.hidden);
  source_positions_ = register_module("source_positions", std::make_shared<Positions>(positions));
  target_positions_ = register_module("target_positions", std::make_shared<Positions>(positions));
  register_layers(layer, o);
  output_bias_ = register_parameter("output_bias", at::zeros({shape.target_symbols}));
  prune_heads(head_blocks(), parse_pruned_heads(o.pruned_heads));
}

void Transformer::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  const auto draw = [&](const torch::nn::Embedding& table, const char* name) {
    const double deviation = 1 / std::sqrt(double(options_.hidden));
    table->weight.copy_(
        random.split(name).normal_tensor(table->weight.sizes(), 0, deviation, at::kFloat));
  };
  draw(source_embedding_, "source_embedding");
  if (!shape_.shared_vocabulary) draw(target_embedding_, "target_embedding");
  source_positions_->initialise(random.split("source_positions"));
  target_positions_->initialise(random.split("target_positions"));
  encoder_->initialise(random.split("encoder"));
  decoder_->initialise(random.split("decoder"));
  if (output_weight_.defined())
    output_weight_.copy_(
        glorot_uniform(shape_.target_symbols, options_.hidden, random.split("output")));
  output_bias_.zero_();
}

std::vector<LayerSummary> Transformer::summary() const {
  const auto& o = options_;
  const int64_t heads = o.key_heads > 0 ? o.key_heads : o.heads;
  const std::string kind = concat(o.norm, "-norm, ", o.heads, " heads",
                                  heads < o.heads ? concat(" on ", heads) : "", ", ", o.positions);
  std::vector<LayerSummary> layers;
  layers.push_back({concat("source embedding (", shape_.source_symbols, ")"),
                    {o.hidden},
                    count_parameters(*source_embedding_) + count_parameters(*source_positions_)});
  layers.push_back({concat("encoder (", o.layers, " layers, ", kind, ")"),
                    {o.hidden},
                    count_parameters(*encoder_)});
  summarise_target_table(layers);
  layers.push_back({concat("decoder (", o.decoder_layers, " layers)"),
                    {o.hidden},
                    count_parameters(*decoder_) + count_parameters(*target_positions_)});
  layers.push_back(
      {o.tie_embeddings ? "output (softmax, tied)" : "output (softmax)",
       {shape_.target_symbols},
       output_bias_.numel() + (output_weight_.defined() ? output_weight_.numel() : 0)});
  return layers;
}

Tensor Transformer::embed(const torch::nn::Embedding& table, const Positions& positions,
                          const Tensor& symbols, int64_t first, const Random* random) const {
  const Tensor scaled =
      embedding_lookup(table->weight, symbols) * std::sqrt(double(options_.hidden));
  const Tensor x = positions.add(scaled, first);
  return random && options_.dropout > 0 ? dropout(x, options_.dropout, random->split("embedding"))
                                        : x;
}

Tensor Transformer::embed_source(const Tensor& symbols, const Random* random) const {
  return embed(source_embedding_, *source_positions_, symbols, 0, random);
}

Tensor Transformer::embed_target(const Tensor& symbols, int64_t first, const Random* random) const {
  return embed(target_embedding_, *target_positions_, symbols, first, random);
}

OutputLayer Transformer::output_layer() const {
  return {output_matrix(), output_bias_};
}

}  // namespace fovea
