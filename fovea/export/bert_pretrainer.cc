#include "fovea/models/bert_pretrainer.h"
#include "fovea/export/bert.h"
#include "fovea/export/exporters.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

/// x / |x|: [B, D].
Value of_length_one(const Value& x) {
  const Value length = sqrt(sum(x * x, 1, true));  // [B, 1]
  return x / maximum(length, x.graph().number(1e-12));
}

/// What stood at each [MASK] of the batch, row after row.
void put_out_guesses(Graph& graph, const Weights& parameters, const BertValues& bert,
                     const BertPretrainerShape& shape) {
  const Value is_mask = bert.tokens == graph.integer(shape.mask);            // [B, N]
  const Value places = transpose(graph.node("NonZero", {is_mask}), {1, 0});  // [M, 2]
  const Value states = graph.node("GatherND", {bert.hidden, places});        // [M, D]
  const Weights head = parameters.under("masked");
  const Value made = head.layer_norm("norm", gelu(head.linear("dense", states)));
  const Value logits = linear(made, parameters.value(graph, "encoder.tokens.weight"),
                              head.value(graph, "bias"));  // [M, V]
  graph.output({"masked_places",
                ElementType::Int64,
                {"masked", 2},
                "row and place of each [MASK] of the batch"},
               places);
  graph.output({"masked_log_probabilities",
                ElementType::Float,
                {"masked", shape.vocabulary},
                "of each piece to stand there"},
               log_softmax(logits));
}

}  // namespace

static ExportedGraphs bert_pretrainer_graphs(const BertPretrainer& model,
                                             const ExportOptions& options) {
  const Weights parameters(model);
  const BertOptions& sizes = model.encoder().options();
  auto graph = std::make_unique<Graph>("bert", "States and embeddings of texts");
  const BertValues bert = run_bert(*graph, parameters, /*segments=*/true, sizes.maximum_length);
  const Value first = pooled(parameters, bert.hidden);  // [B, D]

  const Shape by_row{"batch", sizes.hidden};
  graph->output({"embedding", ElementType::Float, by_row,
                 "mean of the real tokens' states, of length 1: texts of one meaning lie close"},
                of_length_one(mean_of_real(bert)));
  graph->output({"hidden",
                 ElementType::Float,
                 {"batch", "length", sizes.hidden},
                 "state of each token; means nothing at padding"},
                bert.hidden);
  graph->output({"pooled", ElementType::Float, by_row, "tanh of a layer over the first token"},
                first);
  if (parameters.has("next.weight"))
    graph->output({"next_log_probabilities",
                   ElementType::Float,
                   {"batch", 2},
                   "that the second text follows the first (0), that it does not (1)"},
                  log_softmax(parameters.linear("next", first)));
  if (model.guesses_masks()) put_out_guesses(*graph, parameters, bert, model.shape());
  if (options.attention) put_out_attention(*graph, bert);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_bert_pretrainer(const Model& model,
                                                     const ExportOptions& options) {
  return export_as<BertPretrainer>(model, options, bert_pretrainer_graphs);
}

}  // namespace fovea
