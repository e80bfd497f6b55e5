// The caption model as two graphs: the encoder looks at the picture once, the decoder writes one
// word. sequence.h has the rule that joins them.
#include "fovea/models/show_attend_tell.h"

#include "fovea/export/attention.h"
#include "fovea/export/exporters.h"
#include "fovea/export/image_encoder.h"
#include "fovea/export/recurrent.h"
#include "fovea/export/sequence.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

/// What the two graphs agree on.
struct CaptionPlan {
  explicit CaptionPlan(const ShowAttendTell& model)
      : options(model.options()), shape(model.caption_shape()), weights(model) {
    const int64_t cells = model.grid() * model.grid();
    const int64_t features = weights.tensor("from_context.weight").size(1);
    options.score.key_size = features;
    if (options.is_hard()) options.normaliser.name = options.answers_softly ? "softmax" : "hard";
    const auto number = ElementType::Float;
    const int64_t side = shape.image_size;
    image = {"image", number, {"batch", 3, side, side}, "red, green and blue, each 0 to 255"};
    hidden = {"hidden", number, {1, "batch", options.hidden}, "state of the LSTM"};
    cell = {"cell", number, {1, "batch", options.hidden}, "memory cells of the LSTM"};
    memory = {"memory", number, {"batch", cells, features}, "each cell of the picture, encoded"};
    summary = {"summary", number, {"batch", features}, "the mean of all cells"};
    attention = {"attention", number, {"batch", cells}, "how much the word looked at each cell"};
    if (!attends() || !prepares_keys(options.score)) return;
    const bool layer = weights.has("score.key.weight");
    const int64_t size = weights.tensor(layer ? "score.key.weight" : "score.weight").size(0);
    memory_keys = {"memory_keys", number, {"batch", cells, size}, "the same, for the score"};
  }

  bool attends() const { return options.attends(); }
  bool has_keys() const { return !memory_keys.name.empty(); }

  ShowAttendTellOptions options;
  CaptionShape shape;
  Weights weights;
  Port image, hidden, cell, memory, memory_keys, summary, attention;
};

std::unique_ptr<Graph> caption_encoder(const CaptionPlan& plan) {
  auto graph = std::make_unique<Graph>(
      "caption_encoder", "Looks at the picture once; gives what the first word needs");
  const Value image = graph->input(plan.image);
  Value cells = encode_images(plan.options.encoder, plan.weights.under("encoder"), image);
  if (plan.weights.has("positions")) cells = cells + plan.weights.value(*graph, "positions");
  const int64_t count = plan.weights.tensor("from_context.weight").size(1);
  const Value number = cast(size_of(cells, 1), ElementType::Float);        // [1]
  const Value mean = reshape(sum(cells, 1, false) / number, {-1, count});  // [B, D]
  const auto first = [&](const char* layer) {
    return unsqueeze(tanh(plan.weights.linear(layer, mean)), {0});  // [1, B, H]
  };
  graph->output(token_port(), first_tokens(size_of(image, 0), plan.shape.begin));
  graph->output(plan.hidden, first("first_hidden"));
  graph->output(plan.cell, first("first_cell"));
  if (!plan.attends()) {
    graph->output(plan.summary, mean);
    return graph;
  }
  graph->output(plan.memory, cells);
  if (plan.has_keys())
    graph->output(plan.memory_keys,
                  squeeze(prepare_keys(plan.options.score, plan.weights.under("score"),
                                       unsqueeze(cells, {1})),
                          {1}));
  return graph;
}

/// Where the word looks: context [B, D], weights [B, cells].
AttendedValues look(const CaptionPlan& plan, Graph& graph, const Value& before) {
  if (!plan.attends()) return {graph.input(plan.summary), {}};
  const Value memory = graph.input(plan.memory);
  const Value keys = plan.has_keys() ? graph.input(plan.memory_keys) : memory;
  AttendValues values;
  values.query = unsqueeze(before, {1, 2});  // [B, 1, 1, H]
  values.keys = unsqueeze(keys, {1});        // [B, 1, cells, F]
  values.values = unsqueeze(memory, {1});    // [B, 1, cells, D]
  const AttendedValues attended = attend({plan.options.score,
                                          plan.options.normaliser,
                                          {},
                                          plan.weights.under("score"),
                                          plan.weights.under("")},
                                         values);
  return {squeeze(attended.context, {1, 2}), squeeze(attended.weights, {1, 2})};
}

std::unique_ptr<Graph> caption_decoder(const CaptionPlan& plan, bool with_attention) {
  auto graph = std::make_unique<Graph>("caption_decoder", "One word of the caption");
  const Weights& weights = plan.weights;
  const Value word = rows_of(weights.value(*graph, "words.weight"),
                             graph->input(previous(token_port())));  // [B, E]
  const RecurrentValues state{
      {}, {graph->input(previous(plan.hidden))}, {graph->input(previous(plan.cell))}};
  const Value before = squeeze(state.hidden[0], {0});  // [B, H]
  const AttendedValues attended = look(plan, *graph, before);
  Value context = attended.context;  // [B, D]
  if (plan.options.gate) context = context * sigmoid(weights.linear("gate", before));
  const RecurrentValues stepped =
      run_recurrent({"lstm", 1, false}, weights.under("recurrent"),
                    unsqueeze(join({word, context}, 1), {0}), {}, state);
  const Value after = squeeze(stepped.hidden[0], {0});  // [B, H]
  Value seen =
      word + weights.linear("from_hidden", after) + weights.linear("from_context", context);
  if (plan.options.output == "tanh") seen = tanh(seen);
  graph->output(log_probabilities_port(plan.shape.symbols),
                log_softmax(weights.linear("output", seen)));
  graph->output(plan.hidden, stepped.hidden[0]);
  graph->output(plan.cell, stepped.cell[0]);
  if (with_attention && plan.attends()) graph->output(plan.attention, attended.weights);
  return graph;
}

}  // namespace

static ExportedGraphs show_attend_tell_graphs(const ShowAttendTell& model,
                                              const ExportOptions& options) {
  const CaptionPlan plan(model);
  const SequenceShape symbols{
      .target_symbols = plan.shape.symbols, .begin = plan.shape.begin, .end = plan.shape.end};
  return encoder_and_decoder(symbols, caption_encoder(plan),
                             caption_decoder(plan, options.attention));
}

std::optional<ExportedGraphs> export_show_attend_tell(const Model& model,
                                                      const ExportOptions& options) {
  return export_as<ShowAttendTell>(model, options, show_attend_tell_graphs);
}

}  // namespace fovea
