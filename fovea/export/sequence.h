// What encoder and decoder of every model agree on that reads and writes sequences. The encoder
// reads the source once, the decoder makes one step, and one rule joins them: what the encoder or a
// step puts out as X goes into the next step as previous_X; everything else that a step reads is
// what the encoder put out under the same name.
#pragma once

#include "fovea/export/exporters.h"
#include "fovea/export/weights.h"
#include "fovea/models/sequence_model.h"

namespace fovea {

/// The port under the name that a step reads it by.
onnx::Port previous(onnx::Port port);

onnx::Port source_port();       // symbols
onnx::Port memory_keep_port();  // of the source
onnx::Port token_port();        // the symbol that was chosen
onnx::Port steps_port();        // steps made so far
onnx::Port log_probabilities_port(int64_t symbols);

/// The begin symbol for every row: int64 [B]. batch int64 [1]
onnx::Value first_tokens(const onnx::Value& batch, int64_t begin);

/// The embedding of the target's symbols [V, D].
onnx::Value target_table(const SequenceShape& shape, const onnx::Weights& weights,
                         onnx::Graph& graph);

/// The two files of a model. Both note the numbers of symbols and steps, for whoever writes the
/// loop.
ExportedGraphs encoder_and_decoder(const SequenceShape& shape, std::unique_ptr<onnx::Graph> encoder,
                                   std::unique_ptr<onnx::Graph> decoder);

}  // namespace fovea
