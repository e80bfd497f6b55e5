#include "fovea/models/t5.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void T5Options::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"t5"});
  describe_layers(list);
  list.add("heads", heads, "attention heads").at_least(1);
  list.add("head_size", head_size, "numbers of a head; 0: hidden / heads").at_least(0);
  list.add("feed_forward", feed_forward, "hidden units of the feed-forward network; 0: 4 x hidden")
      .at_least(0);
  list.add("activation", activation, "of the feed-forward network")
      .choices({"relu", "gelu", "gelu-tanh", "silu"});
  list.add("gated", gated,
           "the feed-forward network is multiplied with a second one, as in T5 1.1");
  list.add("buckets", relative.buckets, "of the distances that relative positions tell apart")
      .within(4, 1 << 16);
  list.add("maximum_distance", relative.maximum_distance, "all beyond it share a bucket")
      .at_least(2);
  list.add("tie_embeddings", tie_embeddings, "the output matrix is the target's embedding");
  list.add("scale_output", scale_output,
           "the output's input is divided by sqrt(hidden); tied: where embeddings are tied")
      .choices({"tied", "yes", "no"});
  list.add("epsilon", epsilon, "of the norms").at_least(0);
  list.add("dropout", dropout,
           "of embeddings, attention weights, what each sublayer adds, in the feed-forward network")
      .rate();
  list.add("label_smoothing", label_smoothing, "share of the target spread over all symbols")
      .rate();
  list.add("pruned_heads", pruned_heads,
           "heads that were taken out, map.layer:head,…;… as encoder.1:2,5; empty: none");
}

T5Options T5Options::whole() const {
  T5Options o = *this;
  o.fill_in_zeros();
  require(o.head_size > 0 || o.hidden % o.heads == 0, ErrorKind::InvalidArgument, "model.heads (",
          o.heads, ") does not divide model.hidden (", o.hidden, "); set model.head_size");
  if (o.head_size == 0) o.head_size = o.hidden / o.heads;
  return o;
}

T5::T5(const T5Options& options, SearchOptions search, SequenceShape shape)
    : EncoderDecoder(std::move(search), shape), options_(options.whole()) {
  const T5Options& o = options_;
  TransformerLayerOptions layer;
  layer.width = o.hidden;
  layer.heads = o.heads;
  layer.head_size = o.head_size;
  layer.feed_forward = o.feed_forward;
  layer.norm = "pre";
  layer.norm_name = "rms";
  layer.activation = o.activation;
  layer.gated = o.gated;
  layer.bias = layer.output_bias = layer.feed_forward_bias = false;
  layer.positions = "relative";
  layer.relative = o.relative;
  layer.score = "dot";
  layer.dropout = layer.attention_dropout = layer.hidden_dropout = o.dropout;
  layer.epsilon = o.epsilon;
  register_tables(o.hidden);
  register_layers(layer, o);
  prune_heads(head_blocks(), parse_pruned_heads(o.pruned_heads));
}

void T5::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  const double narrow = 1 / std::sqrt(double(options_.head_size));
  for (const auto& item : named_parameters()) {
    const std::string& name = item.key();
    const Tensor& parameter = item.value();
    if (parameter.dim() == 1) {  // norms: there are no biases
      parameter.fill_(1);
      continue;
    }
    const bool is_table = name.ends_with("embedding.weight");
    const int64_t inputs = name.ends_with("relative.weight") ? options_.hidden : parameter.size(1);
    initialise_normal(parameter, is_table ? 1 : 1 / std::sqrt(double(inputs)), random.split(name));
    if (name.ends_with("in_proj_weight"))
      parameter.narrow(0, 0, parameter.size(0) / 3).mul_(narrow);
  }
}

std::vector<LayerSummary> T5::summary() const {
  const T5Options& o = options_;
  std::vector<LayerSummary> layers;
  layers.push_back({concat("source embedding (", shape_.source_symbols, ")"),
                    {o.hidden},
                    count_parameters(*source_embedding_)});
  layers.push_back({concat("encoder (", o.layers, " layers, ", o.heads, " heads of ", o.head_size,
                           ", relative positions", o.gated ? ", gated)" : ")"),
                    {o.hidden},
                    count_parameters(*encoder_)});
  summarise_target_table(layers);
  layers.push_back(
      {concat("decoder (", o.decoder_layers, " layers)"), {o.hidden}, count_parameters(*decoder_)});
  layers.push_back({o.tie_embeddings ? "output (softmax, tied)" : "output (softmax)",
                    {shape_.target_symbols},
                    output_weight_.defined() ? output_weight_.numel() : 0});
  return layers;
}

Tensor T5::embed_source(const Tensor& symbols, const Random* random) const {
  return dropout(embedding_lookup(source_embedding_->weight, symbols), options_.dropout, random,
                 "embedding");
}

Tensor T5::embed_target(const Tensor& symbols, int64_t, const Random* random) const {
  return dropout(embedding_lookup(target_embedding_->weight, symbols), options_.dropout, random,
                 "embedding");
}

Tensor T5::after_encoder(const Tensor& x, const Random* random) const {
  return dropout(x, options_.dropout, random, "last");
}

Tensor T5::after_decoder(const Tensor& x, const Random* random) const {
  const Tensor dropped = dropout(x, options_.dropout, random, "last");
  return options_.scales_output() ? dropped / std::sqrt(double(options_.hidden)) : dropped;
}

OutputLayer T5::output_layer() const {
  return {output_matrix(), {}};
}

}  // namespace fovea
