#include "fovea/models/graph_attention.h"

#include <torch/nn/modules/container/modulelist.h>

#include "fovea/base/error.h"
#include "fovea/kernels/graph_attention/graph_attention.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void GraphAttentionOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"gat"});
  list.add("score", score,
           "how much a node is looked at: gat, or gatv2, which depends on who looks")
      .choices({"gat", "gatv2"});
  list.add("attention", attention, "learned; or uniform, a control: all neighbours count the same")
      .choices({"learned", "uniform"});
  list.add("layers", layers, "so many steps away are the farthest nodes that count").within(1, 8);
  list.add("hidden", hidden,
           "numbers per head of the layers before the last: of all, or of each (256,256)")
      .within(1, 4096);
  list.add("heads", heads,
           "heads of the layers before the last, side by side: of all, or of each (4,4)")
      .within(1, double(kernels::kMostGraphHeads));
  list.add("output_heads", output_heads, "heads of the last layer, averaged")
      .within(1, double(kernels::kMostGraphHeads));
  list.add("skip", skip,
           "layers whose input is added to what they put out: none; middle, all but the first and "
           "the last, as in the paper; all. A linear map where the sizes differ")
      .choices({"none", "middle", "all"});
  list.add("slope", slope, "of the leaky rectifier in the scores, below 0").within(0, 1);
  list.add("dropout", dropout, "share of each layer's inputs dropped in training").rate();
  list.add("attention_dropout", attention_dropout,
           "share of the attention weights dropped in training")
      .rate();
  list.add("value_dropout", value_dropout,
           "share of what neighbours say that is dropped in training, as in the paper's code")
      .rate();
  describe_class_weights(list, class_weights);
}

GraphAttention::GraphAttention(GraphAttentionOptions options, GraphShape shape)
    : Classifier(
          ClassifierTarget{shape.kind, options.class_weights, shape.class_counts, shape.rows}),
      options_(std::move(options)),
      shape_(std::move(shape)) {
  const auto& o = options_;
  require(shape_.features > 0 && shape_.classes > 1, ErrorKind::InvalidArgument,
          "a graph model needs at least one feature and two classes; found ", shape_.features,
          " and ", shape_.classes);
  require(o.skip != "middle" || o.layers > 2, ErrorKind::InvalidArgument,
          "model.skip=middle: a network of ", o.layers,
          " layers has none between the first and the last");
  const auto list = register_module("layers", torch::nn::ModuleList());
  int64_t width = shape_.features;
  for (int64_t layer = 1; layer <= o.layers; ++layer) {
    const bool last = layer == o.layers;
    GraphLayerOptions of;
    of.inputs = width;
    of.heads = last ? o.output_heads : size_of("heads", o.heads, layer);
    of.width = last ? shape_.classes : size_of("hidden", o.hidden, layer);
    of.side_by_side = !last;
    of.score = o.attention == "uniform" ? "uniform" : o.score;
    of.slope = o.slope;
    of.dropout = o.dropout;
    of.attention_dropout = o.attention_dropout;
    of.value_dropout = o.value_dropout;
    of.edge_features = shape_.edge_features;
    if (o.skip == "all" || (o.skip == "middle" && !last && layer > 1))
      of.skip = layer > 1 && of.inputs == of.outputs() ? "identity" : "projection";
    layers_.push_back(std::make_shared<GraphLayer>(of));
    list->push_back(layers_.back());
    width = of.outputs();
  }
}

int64_t GraphAttention::size_of(const char* name, const std::vector<int64_t>& sizes,
                                int64_t layer) const {
  const int64_t before_last = options_.layers - 1;
  require(sizes.size() == 1 || int64_t(sizes.size()) == before_last, ErrorKind::InvalidArgument,
          "model.", name, " has ", sizes.size(), " numbers; expected one, or one for each of the ",
          before_last, " layers before the last");
  return sizes.size() == 1 ? sizes[0] : sizes[size_t(layer - 1)];
}

void GraphAttention::initialise(const Random& random) {
  for (size_t i = 0; i < layers_.size(); ++i) layers_[i]->initialise(random.split(i));
}

Schema GraphAttention::schema() const {
  return {{"node", at::kLong, {-1}}, target_schema(shape_.classes)};
}

std::vector<LayerSummary> GraphAttention::summary() const {
  std::vector<LayerSummary> rows{{"features", {shape_.features}, 0}};
  for (size_t i = 0; i < layers_.size(); ++i) {
    const GraphLayerOptions& of = layers_[i]->options();
    const bool last = i + 1 == layers_.size();
    rows.push_back(
        {concat("attention to neighbours (", of.score, ", ", of.heads,
                of.heads == 1 ? " head" : " heads", last ? ", averaged" : " side by side, elu",
                of.skip == "none" ? ")" : ", skip)"),
         {of.outputs()},
         count_parameters(*layers_[i])});
  }
  return rows;
}

Tensor GraphAttention::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  const GraphBlock block(batch, options_.layers);
  const Tensor& node = batch.at("node");  // [B]
  NodeFeatures x = NodeFeatures::of(batch);
  for (int64_t layer = 1; layer < options_.layers; ++layer) {
    const Random own = random ? random->split(uint64_t(layer)) : Random();
    const GraphLayer& part = *layers_[size_t(layer - 1)];
    x = {at::elu(part.forward(x, block.edges(layer), random ? &own : nullptr, {tap, layer})),
         {},
         {},
         {}};  // [T, H D]
  }
  const Random own = random ? random->split(uint64_t(options_.layers)) : Random();
  const GraphEdges edges = block.edges(options_.layers);
  // Who watches wants a row for each node of the batch, in its order.
  if (tap)
    return layers_.back()->forward(x, edges.of_rows(node), nullptr, {tap, options_.layers, true});
  return layers_.back()->forward(x, edges, random ? &own : nullptr).index_select(0, node);
}

ParameterRule GraphAttention::rule_of(const std::string& name) const {
  return {.decays = !name.ends_with("bias")};
}

}  // namespace fovea
