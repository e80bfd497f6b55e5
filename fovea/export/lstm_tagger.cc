#include "fovea/models/lstm_tagger.h"
#include "fovea/export/exporters.h"
#include "fovea/export/multi_head.h"
#include "fovea/export/recurrent.h"
#include "fovea/export/tagger.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

/// What the letters of each word say: [B, W, L] -> [B, W, F].
Value spell(const Weights& parameters, const Value& letters) {
  Graph& graph = letters.graph();
  const at::Tensor& filters = parameters.tensor("filters_weight");  // [F, I, width]
  const int64_t half = filters.size(2) / 2;
  const Value by_word = graph.node(
      "Reshape", {letters, join({graph.integers({-1}), size_of(letters, 2)}, 0)});  // [B W, L]
  const Value real = unsqueeze(~(by_word == graph.integer(0)), {1});                // [B W, 1, L]
  const Value x = rows_of(parameters.value(graph, "letters.weight"), by_word);      // [B W, L, I]
  const Value seen = relu(graph.node(
      "Conv",
      {masked(transpose(x, {0, 2, 1}), real, 0), parameters.value(graph, "filters_weight"),
       parameters.value(graph, "filters_bias")},
      {{"pads", std::vector<int64_t>{half, half}}}));
  const Value found = largest(masked(seen, real, 0), 2, false);  // [B W, F]
  const Value shape =
      join({size_of(letters, 0), size_of(letters, 1), graph.integers({filters.size(0)})}, 0);
  return graph.node("Reshape", {found, shape});
}

/// Words, their letters and vectors: [B, W, E].
Value read_words(const Weights& parameters, Graph& graph) {
  const Value words = graph.input(
      {"words", ElementType::Int64, {"batch", "words"}, "numbers of words, padding at the end"});
  std::vector<Value> seen{rows_of(parameters.value(graph, "words.weight"), words)};
  if (parameters.has("filters_weight"))
    seen.push_back(
        spell(parameters, graph.input({"letters",
                                       ElementType::Int64,
                                       {"batch", "words", "letters"},
                                       "numbers of each word's letters, padding at the end"})));
  if (parameters.has("vectors"))
    seen.push_back(rows_of(parameters.value(graph, "vectors"),
                           graph.input({"word_vectors",
                                        ElementType::Int64,
                                        {"batch", "words"},
                                        "rows of each word among the word vectors of texts"})));
  return seen.size() == 1 ? seen[0] : join(seen, 2);
}

/// What the features of each word say about its tag: [B, W, K].
Value score_features(const Weights& parameters, Graph& graph) {
  const Value features =
      graph.input({"word_features",
                   ElementType::Int64,
                   {"batch", "words", "features"},
                   "numbers of each word's features, hashes of what it looks like; 0: none"});
  const Value known = unsqueeze(~(features == graph.integer(0)), {3});  // [B, W, F, 1]
  return sum(masked(rows_of(parameters.value(graph, "features"), features), known, 0), 2, false);
}

/// What the search over tags adds: the scores of a first tag, and from each tag to each.
void output_chain(const Weights& parameters, Graph& graph) {
  const int64_t tags = parameters.tensor("chain.begin").size(0);
  const auto output = [&](const Port& port, const char* name) {
    graph.output(port, graph.node("Identity", {parameters.value(graph, name)}));
  };
  output({"begin", ElementType::Float, {tags}, "score of each tag at the first word"},
         "chain.begin");
  output({"transition",
          ElementType::Float,
          {tags, tags},
          "score of each tag (column) behind each (row)"},
         "chain.transition");
}

}  // namespace

static ExportedGraphs lstm_tagger_graphs(const LstmTagger& model, const ExportOptions& options) {
  const Weights parameters(model);
  auto graph = std::make_unique<Graph>("lstm_tagger", "A tag for every word of a sentence");
  const Value x = read_words(parameters, *graph);  // [B, W, E]
  const Value keep =
      graph->input({"keep", ElementType::Bool, {"batch", "words"}, "false where there is padding"});
  const Value lengths =
      maximum(sum(cast(keep, ElementType::Int64), 1, false), graph->integer(1));  // [B]
  const RecurrentValues read = run_recurrent(
      {"lstm", model.options().layers, /*bidirectional=*/true}, parameters.under("recurrent"),
      transpose(x, {1, 0, 2}), cast(lengths, ElementType::Int32), {});
  const Value h = transpose(read.outputs, {1, 0, 2});  // [B, W, 2 H]
  const MultiHead attention(parameters, "attention");
  const AttendedValues looked = attention.look_at_itself(h, {{}, among_themselves(keep)}).attended;
  const Value a = parameters.layer_norm("norm", h + looked.context);  // [B, W, 2 H]

  Value scores = parameters.linear("output", a);  // [B, W, K]
  if (parameters.has("features")) scores = scores + score_features(parameters, *graph);
  graph->output(tags_port(parameters), log_softmax(scores));
  if (parameters.has("chain.begin")) output_chain(parameters, *graph);
  if (options.attention && attention.heads() > 0)
    graph->output({"attention",
                   ElementType::Float,
                   {"batch", attention.heads(), "words", "words"},
                   "how much each word looked at each"},
                  looked.weights);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_lstm_tagger(const Model& model, const ExportOptions& options) {
  return export_as<LstmTagger>(model, options, lstm_tagger_graphs);
}

}  // namespace fovea
