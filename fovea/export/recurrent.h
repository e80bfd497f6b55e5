// nn/recurrent/recurrent.h as nodes: ONNX's RNN, GRU and LSTM, one node per layer. ONNX stacks the
// two directions and has the gates in another order than PyTorch (gru: z r h for r z n; lstm: i o f
// c for i f g o), so these weights are stored anew; everything else keeps PyTorch's names. A GRU
// whose reset gate scales inputs too has no node of ONNX: one step of it is put together.
#pragma once

#include "fovea/export/weights.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea::onnx {

struct RecurrentShape {
  std::string cell;  // rnn, gru or lstm
  int64_t layers = 1;
  bool bidirectional = false;
  ResetGate reset = {};
};

struct RecurrentValues {
  Value outputs;  // [S, B, D H], 0 at padding
  Values hidden;  // per layer [D, B, H], after the last real step
  Values cell;    // likewise; lstm only
};

/// x [S, B, I]; lengths int32 [B], at least 1 each, or empty when all are S; `start` has hidden and
/// cell as above, or is empty: zeros.
RecurrentValues run_recurrent(const RecurrentShape& shape, const Weights& weights, const Value& x,
                              const Value& lengths, const RecurrentValues& start);

}  // namespace fovea::onnx
