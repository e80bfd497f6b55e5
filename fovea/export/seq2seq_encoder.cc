#include "fovea/base/text.h"
#include "fovea/export/seq2seq_plan.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

/// Column j of row b becomes column length_b - 1 - j; padding stays. x [B, S, D], lengths [B]
Value reversed(const Value& x, const Value& lengths) {
  return x.graph().node("ReverseSequence", {x, lengths},
                        {{"batch_axis", int64_t(0)}, {"time_axis", int64_t(1)}});
}

struct Source {
  Value embedded;  // [B, S, E]
  Value keep;      // bool [B, S]; empty: all of it is real
  Value lengths;   // int64 [B], at least 1
};

Source read_source(const Seq2SeqPlan& plan, Graph& graph) {
  if (!plan.reads_text()) {
    const Value source = graph.input({"source",
                                      ElementType::Float,
                                      {"batch", "source_length", plan.shape.source_width},
                                      "the encoded numbers of each step, the newest last"});
    const Value lengths = graph.node("Expand", {size_of(source, 1), size_of(source, 0)});
    return {plan.weights.linear("source_input", source), {}, lengths};
  }
  const Value source = graph.input(source_port());
  const Value keep = ~(source == graph.integer(plan.shape.padding));
  const Value lengths =
      maximum(sum(cast(keep, ElementType::Int64), 1, false), graph.integer(1));  // [B]
  const Value table = plan.options.one_hot ? one_hot_table(graph, plan.shape.source_symbols, -1)
                                           : plan.weights.value(graph, "source_embedding.weight");
  return {rows_of(table, source), keep, lengths};
}

/// The last state of one layer [D, B, H] as the bridge wants it: [B, D H], or [B, H] of one
/// direction.
Value last_of(const Seq2SeqPlan& plan, const Value& states) {
  Graph& graph = states.graph();
  if (plan.options.bridge == "backward")
    return squeeze(narrow(states, 0, 1, graph.integers({2})), {0});
  return reshape(transpose(states, {1, 0, 2}), {0, -1});
}

/// The decoder's first state: [layers, B, hidden]. `seen` [B, D]: what every layer sees instead of
/// its own states, or empty.
Value bridge(const Seq2SeqPlan& plan, const Values& states, const Value& seen,
             const std::string& name, bool squash) {
  Values layers;
  for (size_t layer = 0; layer < states.size(); ++layer) {
    if (plan.options.bridge == "copy") {
      layers.push_back(states[layer]);  // [1, B, H]
      continue;
    }
    const Value made = plan.weights.linear(
        concat(name, "_l", layer), seen.defined() ? seen : last_of(plan, states[layer]));  // [B, H]
    layers.push_back(unsqueeze(squash ? tanh(made) : made, {0}));
  }
  return join(layers, 0);
}

/// c = tanh(V h_S), of the top layer, both directions: [B, hidden].
Value summary_of(const Seq2SeqPlan& plan, const Values& hidden) {
  const Value top = reshape(transpose(hidden.back(), {1, 0, 2}), {0, -1});  // [B, D H]
  return tanh(plan.weights.linear("summary", top));
}

/// What the first step is told that the one before it wrote. batch int64 [1]
Value first_unit(const Seq2SeqPlan& plan, const Value& batch) {
  Graph& graph = batch.graph();
  if (!plan.writes_text())
    return filled(join({batch, graph.integers({plan.shape.target_width})}, 0), 0);
  if (!plan.feeds_itself()) return first_tokens(batch, plan.shape.begin);
  if (plan.options.one_hot)
    return filled(join({batch, graph.integers({plan.shape.target_symbols})}, 0), 0);
  const auto begin = at::full({1}, plan.shape.begin, at::kLong);
  const auto surely = at::one_hot(begin, plan.shape.target_symbols).to(at::kFloat);  // [1, V]
  return graph.node("Expand", {graph.constant(surely), join({batch, graph.integers({1})}, 0)});
}

void put_out_memory(const Seq2SeqPlan& plan, Graph& graph, const Value& encoded,
                    const Value& keep) {
  graph.output(plan.memory, encoded);
  if (plan.has_memory_keep) graph.output(plan.memory_keep, keep);
  if (!plan.has_memory_keys) return;
  const Value keys = prepare_keys(plan.options.score, plan.weights.under("decoder.score"), encoded);
  graph.output(plan.memory_keys, keys);
}

}  // namespace

std::unique_ptr<Graph> seq2seq_encoder(const Seq2SeqPlan& plan) {
  auto graph = std::make_unique<Graph>("seq2seq_encoder",
                                       "Reads the source once; gives what the first step needs");
  const Source source = read_source(plan, *graph);
  const bool reverse = plan.options.reverse_source;
  const Value x = reverse ? reversed(source.embedded, source.lengths) : source.embedded;
  const RecurrentValues read =
      run_recurrent(plan.encoder(), plan.weights.under("encoder"), transpose(x, {1, 0, 2}),
                    cast(source.lengths, ElementType::Int32), {});
  const std::string& kind = plan.options.bridge;
  Value encoded;  // [B, S, D]
  if (plan.attends() || kind == "first") encoded = transpose(read.outputs, {1, 0, 2});
  if (encoded.defined() && reverse) encoded = reversed(encoded, source.lengths);

  const Value summary = plan.has_summary ? summary_of(plan, read.hidden) : Value();
  const Value seen = kind == "summary" ? summary : kind == "first" ? pick(encoded, 1, 0) : Value();
  graph->output(plan.hidden, bridge(plan, read.hidden, seen, "bridge", true));
  const Values& cells = read.cell.empty() ? read.hidden : read.cell;
  if (plan.has_cell) graph->output(plan.cell, bridge(plan, cells, seen, "cell_bridge", false));
  if (plan.has_summary) graph->output(plan.summary, summary);
  const Value batch = size_of(x, 0);
  graph->output(plan.written, first_unit(plan, batch));
  if (plan.has_readout) {
    const Value width = graph->integers({plan.options.readout_size});
    graph->output(plan.readout, filled(join({batch, width}, 0), 0));
  }
  if (!plan.attends()) return graph;

  put_out_memory(plan, *graph, encoded, source.keep);
  if (plan.has_attention) graph->output(plan.attention, filled(join({batch, size_of(x, 1)}, 0), 0));
  if (plan.has_steps) graph->output(plan.steps, graph->integers({0}));
  return graph;
}

}  // namespace fovea
