// One step of a recurrent cell (recurrent.h) from products that the caller has made, where others
// are wanted than those of recurrent_forward(), such as rounded ones.
#pragma once

#include "fovea/kernels/recurrent.h"

namespace fovea::kernels {

struct CellRows {
  int64_t rows = 0, hidden = 0;               // B, H
  const float *x = nullptr, *u = nullptr;     // W x + b and U h + b' [B, G H]
  float *state = nullptr, *memory = nullptr;  // h and, of an LSTM, c [B, H]: before, then after
};

void cell_step(RecurrentCell cell, const CellRows& at);

}  // namespace fovea::kernels
