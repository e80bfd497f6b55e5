#include "fovea/export/seq2seq_plan.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

/// Everything that a step reads. What the model does without is empty.
struct StepInputs {
  Value x;                   // [B, E]
  RecurrentValues state;     // per layer [1, B, H]
  Value before;              // [B, H], the top layer's
  Value summary, readout;    // [B, C], [B, R]
  Value memory, keys, keep;  // [B, K, D], [B, K, F], [B, K]
  Value attention, steps;    // [B, K], [1]
};

Values layer_states(const Value& states, int64_t layers) {
  if (layers == 1) return {states};
  Graph& graph = states.graph();
  Values split;
  for (int64_t layer = 0; layer < layers; ++layer)
    split.push_back(narrow(states, 0, layer, graph.integers({layer + 1})));  // [1, B, H]
  return split;
}

/// The embedding of what the step before wrote: [B, E].
Value embed(const Seq2SeqPlan& plan, const Value& written) {
  if (!plan.writes_text()) return plan.weights.linear("target_input", written);
  if (plan.options.one_hot) {
    if (plan.feeds_itself()) return written;
    return rows_of(one_hot_table(written.graph(), plan.shape.target_symbols, plan.shape.begin),
                   written);
  }
  const Value table = target_table(plan.shape, plan.weights, written.graph());
  return plan.feeds_itself() ? matmul(written, table) : rows_of(table, written);
}

StepInputs read_inputs(const Seq2SeqPlan& plan, Graph& graph) {
  const auto given = [&](bool has, const Port& port) { return has ? graph.input(port) : Value(); };
  StepInputs in;
  in.x = embed(plan, graph.input(previous(plan.written)));
  in.state.hidden = layer_states(graph.input(previous(plan.hidden)), plan.options.layers);
  if (plan.has_cell)
    in.state.cell = layer_states(graph.input(previous(plan.cell)), plan.options.layers);
  in.before = squeeze(in.state.hidden.back(), {0});
  in.readout = given(plan.has_readout, previous(plan.readout));
  in.attention = given(plan.has_attention, previous(plan.attention));
  in.steps = given(plan.has_steps, previous(plan.steps));
  in.summary = given(plan.has_summary, plan.summary);
  in.memory = given(plan.attends(), plan.memory);
  in.keys = plan.has_memory_keys ? graph.input(plan.memory_keys) : in.memory;
  in.keep = given(plan.has_memory_keep, plan.memory_keep);
  return in;
}

/// One query [B, H] over the memory: context [B, D], weights [B, K].
AttendedValues look_at_inputs(const Seq2SeqPlan& plan, const StepInputs& in, const Value& query) {
  const auto with_heads = [](const Value& x, const std::vector<int64_t>& dimensions) {
    return x.defined() ? unsqueeze(x, dimensions) : x;
  };
  const AttentionLayer layer{plan.options.score, plan.options.normaliser, plan.options.alignment,
                             plan.weights.under("decoder.score"),
                             plan.weights.under("decoder.alignment")};
  AttendValues values;
  values.query = with_heads(query, {1, 2});                    // [B, 1, 1, H]
  values.keys = with_heads(in.keys, {1});                      // [B, 1, K, F]
  values.values = with_heads(in.memory, {1});                  // [B, 1, K, D]
  values.keep = with_heads(in.keep, {1, 2});                   // [B, 1, 1, K]
  values.previous_weights = with_heads(in.attention, {1, 2});  // [B, 1, 1, K]
  values.first_position = in.steps;
  const AttendedValues attended = attend(layer, values);
  return {squeeze(attended.context, {1, 2}), squeeze(attended.weights, {1, 2})};
}

/// r_t: [B, R].
Value read_out(const Seq2SeqPlan& plan, const Value& state, const Value& x, const Value& context) {
  if (plan.options.readout == "state") return state;
  if (plan.options.readout == "linear") return join({state, x, context}, 1);
  if (plan.options.readout == "tanh")
    return tanh(plan.weights.linear("decoder.combine", join({context, state}, 1)));
  const Value pairs = plan.weights.linear("decoder.combine", join({state, x, context}, 1));
  return largest(reshape(pairs, {0, -1, 2}), 2, false);  // maxout
}

void write(const Seq2SeqPlan& plan, Graph& graph, const Value& made) {
  const Value readout =
      plan.options.output_rank > 0 ? plan.weights.linear("output_factor", made) : made;
  const Value output = plan.options.tie_embeddings
                           ? linear(readout, target_table(plan.shape, plan.weights, graph),
                                    plan.weights.value(graph, "output_bias"))
                           : plan.weights.linear("output", readout);  // [B, V or O]
  if (!plan.writes_text()) return graph.output(plan.written, output);
  graph.output(log_probabilities_port(plan.shape.target_symbols), log_softmax(output));
  if (plan.feeds_itself()) graph.output(plan.written, softmax(output));
}

}  // namespace

std::unique_ptr<Graph> seq2seq_decoder(const Seq2SeqPlan& plan, bool with_attention) {
  auto graph = std::make_unique<Graph>("seq2seq_decoder", "One step of the decoder");
  const StepInputs in = read_inputs(plan, *graph);
  Value context = in.summary;  // [B, C] or empty
  AttendedValues attended;
  if (plan.looks_first())
    attended = look_at_inputs(plan, in, in.before), context = attended.context;

  const bool looks_after = plan.attends() && !plan.looks_first();
  const Value input = join({in.x, looks_after ? in.readout : context}, 1);
  const RecurrentValues stepped = run_recurrent(
      plan.decoder(), plan.weights.under("decoder.recurrent"), unsqueeze(input, {0}), {}, in.state);
  const Value after = squeeze(stepped.hidden.back(), {0});  // [B, H]
  if (looks_after) attended = look_at_inputs(plan, in, after), context = attended.context;
  const bool new_state = plan.options.readout_from == "new";
  const Value readout = read_out(plan, new_state ? after : in.before, in.x, context);

  write(plan, *graph, readout);
  graph->output(plan.hidden, join(stepped.hidden, 0));
  if (plan.has_cell) graph->output(plan.cell, join(stepped.cell, 0));
  if (plan.has_readout) graph->output(plan.readout, readout);
  if (plan.has_attention || (with_attention && plan.attends()))
    graph->output(plan.attention, attended.weights);
  if (plan.has_steps) graph->output(plan.steps, in.steps + graph->integers({1}));
  return graph;
}

}  // namespace fovea
