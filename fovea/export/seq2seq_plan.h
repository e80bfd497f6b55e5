// What the two graphs of a seq2seq model agree on, beside sequence.h: memory, memory_keys,
// memory_keep and summary go into every step as the encoder made them, the others from step to
// step.
#pragma once

#include <memory>

#include "fovea/export/attention.h"
#include "fovea/export/recurrent.h"
#include "fovea/export/sequence.h"
#include "fovea/models/seq2seq.h"

namespace fovea {

struct Seq2SeqPlan {
  explicit Seq2SeqPlan(const Seq2Seq& model);

  bool reads_text() const { return shape.source_symbols > 0; }
  bool writes_text() const { return shape.target_symbols > 0; }
  bool feeds_itself() const { return writes_text() && options.feedback == "own"; }
  bool attends() const { return options.attention != "none"; }
  bool looks_first() const { return attends() && options.decoder == "bahdanau"; }
  onnx::RecurrentShape encoder() const;
  onnx::RecurrentShape decoder() const;

  Seq2SeqOptions options;
  SequenceShape shape;
  onnx::Weights weights;

  // Without attention: only summary, when every step sees it.
  bool has_memory_keys = false;  // the score prepares keys of its own
  bool has_memory_keep = false;  // sources of a batch may differ in length
  bool has_summary = false;
  onnx::Port memory, memory_keys, memory_keep, summary;

  // What one step hands to the next.
  bool has_cell = false, has_readout = false, has_attention = false, has_steps = false;
  onnx::Port hidden, cell, readout, attention, steps;
  /// The output that is fed back: the symbol that the caller chose, or what the step itself made.
  onnx::Port written;
};

/// The symbols as one-hot vectors [V, V], `begin` (where there is such) as zeros.
onnx::Value one_hot_table(onnx::Graph& graph, int64_t symbols, int64_t begin);

std::unique_ptr<onnx::Graph> seq2seq_encoder(const Seq2SeqPlan& plan);
std::unique_ptr<onnx::Graph> seq2seq_decoder(const Seq2SeqPlan& plan, bool with_attention);

}  // namespace fovea
