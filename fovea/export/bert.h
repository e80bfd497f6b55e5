// nn/transformer/bert_encoder.h as nodes: what pretrainer, classifier and tagger have in common. A
// graph reads one window; texts that are longer are cut by the caller, as models/bert_windows.h
// does it.
#pragma once

#include "fovea/export/transformer_layers.h"

namespace fovea::onnx {

struct BertValues {
  Value tokens;  // int64 [B, N]
  Value keep;    // bool [B, N]
  Value hidden;  // [B, N, D]
  AllWeights weights;
};

/// The inputs "tokens", "keep" and, with `segments`, "segments" where it has some, through the
/// module "encoder" of the model, a BertEncoder. `window`: the most tokens of a row, noted in the
/// file.
BertValues run_bert(Graph& graph, const Weights& model, bool segments, int64_t window);

/// tanh(W h_1 + b): [B, N, D] -> [B, D].
Value pooled(const Weights& model, const Value& hidden);

/// Mean of the real positions: [B, D]; 0 where there are none.
Value mean_of_real(const BertValues& bert);

/// "attention_1", "attention_2", …
void put_out_attention(Graph& graph, const BertValues& bert);

}  // namespace fovea::onnx
