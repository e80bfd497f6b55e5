#include <limits>

#include "fovea/export/attention.h"
#include "fovea/export/exporters.h"
#include "fovea/export/recurrent.h"
#include "fovea/models/hierarchical.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

struct PooledValues {
  Value summary;  // [N, D]
  Value weights;  // [N, T]; empty without attention
};

/// models/hierarchical_pooling.h: states [N, T, D], keep bool [N, T].
PooledValues pool(const PoolingOptions& options, const Weights& weights, const Value& states,
                  const Value& keep, int64_t width, int64_t longest) {
  Graph& graph = states.graph();
  const Value real = unsqueeze(keep, {2});  // [N, T, 1]
  if (options.pooling == "average") {
    const Value count = sum(cast(real, ElementType::Float), 1, false);  // [N, 1]
    return {sum(masked(states, real, 0), 1, false) / maximum(count, graph.number(1)), {}};
  }
  if (options.pooling == "max") {
    const Value most =
        largest(masked(states, real, std::numeric_limits<float>::lowest()), 1, false);
    return {masked(most, any(real, 1, false), 0), {}};
  }
  const bool is_context = options.score == "context";
  AttentionLayer layer{{}, {}, {}, weights.under("score"), weights.under("alignment")};
  layer.score.name = is_context ? "dot" : options.score;
  layer.score.query_size = layer.score.key_size = width;
  layer.score.hidden_size = options.score_hidden;
  layer.score.maximum_length = longest;
  const Value keys = is_context ? tanh(weights.linear("projection", states)) : states;
  AttendValues in;
  in.query = graph.node("Expand", {weights.value(graph, "context"),
                                   join({size_of(states, 0), graph.integers({1, 1, width})}, 0)});
  in.keys = prepare_keys(layer.score, layer.score_weights, unsqueeze(keys, {1}));
  in.values = unsqueeze(states, {1});
  in.keep = unsqueeze(keep, {1, 2});  // [N, 1, 1, T]
  const AttendedValues looked = attend(layer, in);
  return {reshape(looked.context, {-1, width}), squeeze(looked.weights, {1, 2})};
}

/// x [N, T, I] -> [N, T, D]
Value read(const Weights& weights, const Value& x, const Value& keep) {
  const Value lengths = maximum(sum(cast(keep, ElementType::Int64), 1, false),
                                x.graph().integer(1));  // [N]
  const RecurrentValues states =
      run_recurrent({"gru", 1, /*bidirectional=*/true}, weights, transpose(x, {1, 0, 2}),
                    cast(lengths, ElementType::Int32), {});
  return transpose(states.outputs, {1, 0, 2});
}

}  // namespace

/// Documents as the rectangles that ONNX knows: [batch, sentences, words].
static ExportedGraphs hierarchical_graphs(const HierarchicalAttention& model,
                                          const ExportOptions& options) {
  const Weights parameters(model);
  const PoolingOptions& pooling = model.options().pooling;
  const int64_t width = 2 * model.options().hidden;
  auto graph = std::make_unique<Graph>("hierarchical", "Which class a document belongs to");
  const Value words = graph->input({"words",
                                    ElementType::Int64,
                                    {"batch", "sentences", "words"},
                                    "numbers of the words of each sentence, padding at the end"});
  const Value keep = graph->input(
      {"keep", ElementType::Bool, {"batch", "sentences", "words"}, "false where there is padding"});
  const Value flat = join({graph->integers({-1}), size_of(words, 2)}, 0);  // [B S, T]
  const Value real = graph->node("Reshape", {keep, flat});
  const Value x = rows_of(parameters.value(*graph, "words.weight"),
                          graph->node("Reshape", {words, flat}));  // [B S, T, E]
  const PooledValues of_words = pool(pooling, parameters.under("word_pooling"),
                                     read(parameters.under("word_encoder"), x, real), real, width,
                                     model.shape().longest_sentence);
  const Value sentences = graph->node(
      "Reshape",
      {of_words.summary,
       join({size_of(words, 0), size_of(words, 1), graph->integers({width})}, 0)});  // [B, S, D]
  const Value has_words = any(keep, 2, false);                                       // [B, S]
  const PooledValues of_sentences =
      pool(pooling, parameters.under("sentence_pooling"),
           read(parameters.under("sentence_encoder"), sentences, has_words), has_words, width,
           model.shape().longest_document);
  output_answers(*graph, parameters.linear("output", of_sentences.summary), model,
                 model.shape().classes, options);
  if (!options.attention || !of_words.weights.defined()) return one_graph(std::move(graph));
  graph->output({"sentence_attention",
                 ElementType::Float,
                 {"batch", "sentences"},
                 "how much the document looked at each sentence"},
                of_sentences.weights);
  graph->output({"word_attention",
                 ElementType::Float,
                 {"batch", "sentences", "words"},
                 "how much each sentence looked at each of its words"},
                graph->node("Reshape", {of_words.weights, graph->node("Shape", {words})}));
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_hierarchical(const Model& model,
                                                  const ExportOptions& options) {
  return export_as<HierarchicalAttention>(model, options, hierarchical_graphs);
}

}  // namespace fovea
