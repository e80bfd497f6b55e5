#include "fovea/models/seq2seq.h"
#include "fovea/export/exporters.h"
#include "fovea/export/seq2seq_plan.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using onnx::ElementType;

namespace {

onnx::Port written_port(const Seq2SeqPlan& plan) {
  const SequenceShape& shape = plan.shape;
  if (!plan.writes_text())
    return {"value", ElementType::Float, {"batch", shape.target_width}, "the numbers of a step"};
  if (plan.feeds_itself())
    return {"probabilities",
            ElementType::Float,
            {"batch", shape.target_symbols},
            "of each symbol: what this model was trained to read back"};
  return token_port();
}

}  // namespace

Seq2SeqPlan::Seq2SeqPlan(const Seq2Seq& model)
    : options(model.options()), shape(model.shape()), weights(model) {
  const auto number = ElementType::Float;
  const int64_t width = options.encoder_hidden * (options.bidirectional ? 2 : 1);
  options.score.key_size = width;
  const onnx::Shape state{options.layers, "batch", options.hidden};
  hidden = {"hidden", number, state, "state of each layer of the decoder"};
  has_cell = options.cell == "lstm";
  cell = {"cell", number, state, "memory cells of each layer of the decoder"};
  has_readout = options.input_feeding;
  readout = {"readout", number, {"batch", options.readout_size}, "what the output layer saw"};
  written = written_port(*this);
  has_summary = weights.has("summary.weight");
  summary = {"summary", number, {"batch", options.hidden}, "one vector for the whole source"};
  if (!attends()) return;

  memory = {"memory", number, {"batch", "source_length", width}, "each source position, encoded"};
  has_memory_keys = onnx::prepares_keys(options.score);
  if (has_memory_keys) {
    const bool layer = weights.has("decoder.score.key.weight");
    const int64_t size =
        weights.tensor(layer ? "decoder.score.key.weight" : "decoder.score.weight").size(0);
    memory_keys = {"memory_keys",
                   number,
                   {"batch", "source_length", size},
                   "the same, prepared for the score function"};
  }
  has_memory_keep = reads_text();
  memory_keep = memory_keep_port();
  has_attention = onnx::reads_previous_weights(options.score, options.alignment);
  attention = {"attention",
               number,
               {"batch", "source_length"},
               "how much the step looked at each source position"};
  has_steps = onnx::reads_position(options.alignment);
  steps = steps_port();
}

onnx::Value one_hot_table(onnx::Graph& graph, int64_t symbols, int64_t begin) {
  const at::Tensor table = at::eye(symbols, at::kFloat);
  if (begin >= 0) table[begin].zero_();
  return graph.constant(table);
}

onnx::RecurrentShape Seq2SeqPlan::encoder() const {
  const std::string& cell_name = options.cell_of_encoder();
  return {cell_name,
          options.layers,
          options.bidirectional,
          {options.reset == "before" && cell_name == "gru"}};
}

onnx::RecurrentShape Seq2SeqPlan::decoder() const {
  onnx::RecurrentShape made{options.cell, options.layers, false};
  if (options.summary_gated)
    made.reset.inputs = options.hidden;
  else
    made.reset.before = options.reset == "before" && options.cell == "gru";
  return made;
}

static ExportedGraphs seq2seq_graphs(const Seq2Seq& model, const ExportOptions& options) {
  const Seq2SeqPlan plan(model);
  return encoder_and_decoder(plan.shape, seq2seq_encoder(plan),
                             seq2seq_decoder(plan, options.attention));
}

std::optional<ExportedGraphs> export_seq2seq(const Model& model, const ExportOptions& options) {
  return export_as<Seq2Seq>(model, options, seq2seq_graphs);
}

}  // namespace fovea
