// A thread per unit of a row.
#include "fovea/kernels/cell_step/cell_step.h"

#include "fovea/kernels/device/numbers.cuh"

namespace fovea::kernels::device {

namespace {

constexpr int kThreads = 256;

__device__ float sigmoid(float x) {
  return 1 / (1 + __expf(-x));
}

template <typename T, RecurrentCell kCell>
__global__ void __launch_bounds__(kThreads)
    forward_cells(CellForward step, int64_t rows, int64_t hidden) {
  const int64_t place = blockIdx.x * int64_t(kThreads) + threadIdx.x;
  if (place >= rows * hidden) return;
  constexpr int kGates = kCell == RecurrentCell::Rnn ? 1 : kCell == RecurrentCell::Gru ? 3 : 4;
  const int64_t row = place / hidden, unit = place % hidden;
  const T* const input = static_cast<const T*>(step.input) + row * kGates * hidden + unit;
  const T* const recurrent =
      static_cast<const T*>(step.recurrent) + row * step.recurrent_row + unit;
  float in[kGates], own[kGates];
#pragma unroll
  for (int gate = 0; gate < kGates; ++gate) {
    in[gate] = wide(input[gate * hidden]) + step.input_bias[gate * hidden + unit];
    own[gate] = wide(recurrent[gate * hidden]) + step.recurrent_bias[gate * hidden + unit];
  }
  float* const gates = step.gates + row * (kCell == RecurrentCell::Rnn ? 1 : 4) * hidden + unit;
  float result;
  if constexpr (kCell == RecurrentCell::Rnn) {
    result = gates[0] = tanhf(in[0] + own[0]);
  } else if constexpr (kCell == RecurrentCell::Gru) {
    const float r = sigmoid(in[0] + own[0]), u = sigmoid(in[1] + own[1]);
    const float n = tanhf(in[2] + r * own[2]);
    gates[0] = r, gates[hidden] = u, gates[2 * hidden] = n, gates[3 * hidden] = own[2];
    result = n + u * (step.hidden_before[place] - n);
  } else {
    const float i = sigmoid(in[0] + own[0]), f = sigmoid(in[1] + own[1]);
    const float g = tanhf(in[2] + own[2]), o = sigmoid(in[3] + own[3]);
    gates[0] = i, gates[hidden] = f, gates[2 * hidden] = g, gates[3 * hidden] = o;
    const float cell = f * step.cell_before[place] + i * g;
    step.cell[place] = cell;
    result = o * tanhf(cell);
  }
  step.hidden[place] = result;
  if (step.rounded != nullptr) static_cast<T*>(step.rounded)[place] = narrow<T>(result);
}

template <typename T, RecurrentCell kCell>
__global__ void __launch_bounds__(kThreads)
    backward_cells(CellBackward step, int64_t rows, int64_t hidden) {
  const int64_t place = blockIdx.x * int64_t(kThreads) + threadIdx.x;
  if (place >= rows * hidden) return;
  constexpr int kGates = kCell == RecurrentCell::Rnn ? 1 : kCell == RecurrentCell::Gru ? 3 : 4;
  const int64_t row = place / hidden, unit = place % hidden;
  float arrived = step.past[place], past = 0;
  if (step.outside != nullptr) arrived += wide(static_cast<const T*>(step.outside)[place]);
  if (step.products != nullptr) arrived += wide(static_cast<const T*>(step.products)[place]);
  const float* const gates =
      step.gates + row * (kCell == RecurrentCell::Rnn ? 1 : 4) * hidden + unit;
  float of_input[kGates], of_recurrent[kGates];
  if constexpr (kCell == RecurrentCell::Rnn) {
    of_input[0] = of_recurrent[0] = arrived * (1 - gates[0] * gates[0]);
  } else if constexpr (kCell == RecurrentCell::Gru) {
    const float r = gates[0], u = gates[hidden], n = gates[2 * hidden], own = gates[3 * hidden];
    const float of_n = arrived * (1 - u) * (1 - n * n);
    const float of_u = arrived * (step.hidden_before[place] - n) * u * (1 - u);
    const float of_r = of_n * own * r * (1 - r);
    of_input[0] = of_recurrent[0] = of_r, of_input[1] = of_recurrent[1] = of_u;
    of_input[2] = of_n, of_recurrent[2] = of_n * r;
    past = arrived * u;
  } else {
    const float i = gates[0], f = gates[hidden], g = gates[2 * hidden], o = gates[3 * hidden];
    const float told = tanhf(step.cell[place]);
    const float of_cell = step.of_cell[place] + arrived * o * (1 - told * told);
    of_input[0] = of_cell * g * i * (1 - i);
    of_input[1] = of_cell * step.cell_before[place] * f * (1 - f);
    of_input[2] = of_cell * i * (1 - g * g);
    of_input[3] = arrived * told * o * (1 - o);
    step.of_cell[place] = of_cell * f;
#pragma unroll
    for (int gate = 0; gate < kGates; ++gate) of_recurrent[gate] = of_input[gate];
  }
  step.past[place] = past;
  T* const input = static_cast<T*>(step.input) + row * kGates * hidden + unit;
  T* const recurrent = static_cast<T*>(step.recurrent) + row * step.recurrent_row + unit;
#pragma unroll
  for (int gate = 0; gate < kGates; ++gate) {
    input[gate * hidden] = narrow<T>(of_input[gate]);
    recurrent[gate * hidden] = narrow<T>(of_recurrent[gate]);
  }
}

/// work.template operator()<T, cell>()
template <typename Work>
void with_cell(RecurrentCell cell, NumberType type, const Work& work) {
  with_type(type, [&]<typename T>() {
    if (cell == RecurrentCell::Rnn)
      work.template operator()<T, RecurrentCell::Rnn>();
    else if (cell == RecurrentCell::Gru)
      work.template operator()<T, RecurrentCell::Gru>();
    else
      work.template operator()<T, RecurrentCell::Lstm>();
  });
}

unsigned blocks_of(const RecurrentShape& shape) {
  return unsigned((shape.rows * shape.hidden + kThreads - 1) / kThreads);
}

}  // namespace

void cell_forward(const RecurrentShape& shape, const CellForward& step, void* stream) {
  with_cell(shape.cell, step.type, [&]<typename T, RecurrentCell kCell>() {
    forward_cells<T, kCell><<<blocks_of(shape), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        step, shape.rows, shape.hidden);
  });
}

void cell_backward(const RecurrentShape& shape, const CellBackward& step, void* stream) {
  with_cell(shape.cell, step.type, [&]<typename T, RecurrentCell kCell>() {
    backward_cells<T, kCell><<<blocks_of(shape), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        step, shape.rows, shape.hidden);
  });
}

}  // namespace fovea::kernels::device
