// Graph attention (GAT, Velickovic et al. 2018): the class of a node, from its own features and
// those of the nodes around it. L layers of nn/graph_layer, each node looking at its neighbours and
// at itself:
//   h^l = elu(layer_l(h^(l-1))), heads side by side;   p = softmax(layer_L(h^(L-1))), heads
//   averaged; of several labels sigmoid in place of softmax
// model.skip adds the input of a layer to what it puts out, before elu, as the paper does on PPI
// in the middle of three layers. Numbers and heads may differ from layer to layer. What is known of
// edges enters the scores (nn/graph/graph_layer.h).
// model.score=gatv2 is Brody et al. 2022; model.attention=uniform is the control that only
// averages. In training dropout takes the inputs of each layer, the attention weights, and, as the
// paper's code does, the values that are summed.
#pragma once

#include "fovea/models/classifier.h"
#include "fovea/nn/graph/graph_layer.h"

namespace fovea {

struct GraphAttentionOptions {
  std::string name = "gat";
  std::string score = "gat";          // gat, gatv2
  std::string attention = "learned";  // learned, uniform
  int64_t layers = 2;                 // L
  std::vector<int64_t> hidden = {8};  // numbers per head, of all layers before the last or of each
  std::vector<int64_t> heads = {8};   // likewise
  int64_t output_heads = 1;
  std::string skip = "none";  // none, middle: all but the first and the last layer, all
  double slope = 0.2;
  double dropout = 0.3;
  double attention_dropout = 0.3;
  double value_dropout = 0.3;
  std::string class_weights = "none";
  void describe(OptionList& list);
};

/// What the data decides.
struct GraphShape {
  int64_t features = 0, classes = 0;
  std::vector<int64_t> class_counts = {};  // of the training nodes
  int64_t edge_features = 0;
  AnswerKind kind = AnswerKind::Class;
  int64_t rows = 0;  // training nodes
};

class GraphAttention : public Classifier {
 public:
  GraphAttention(GraphAttentionOptions options, GraphShape shape);
  const GraphAttentionOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  /// Besides what the schema names a batch holds what nn/graph/graph_block.h and
  /// nn/graph/graph_features.h say.
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  /// Weight decay leaves biases alone.
  ParameterRule rule_of(const std::string& name) const override;

 protected:
  /// Maps: "attention" of every layer over the edges between "nodes", and "neighbours", which the
  /// last layer looks at to answer.
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;

 private:
  /// Of a layer before the last, from 1.
  int64_t size_of(const char* name, const std::vector<int64_t>& sizes, int64_t layer) const;

  GraphAttentionOptions options_;
  GraphShape shape_;
  std::vector<std::shared_ptr<GraphLayer>> layers_;
};

}  // namespace fovea
