// One step of each cell on vectors of units: the formulas of recurrent.h and their derivatives.
#pragma once

#include "fovea/kernels/recurrent/recurrent.h"
#include "fovea/kernels/simd.h"

namespace fovea::kernels {
namespace {

/// h and c of some units, or their gradients.
struct Units {
  Lanes hidden, cell;
};

// Each cell has
//   forward()   x: W x + b and u: U h + b' of every gate; `state` goes from one step to the next;
//               `saved`: what backward() wants to know
//   backward()  `gradient` goes back by one step, except for what passes through U; `d`: the
//               gradients of x, and of u where they differ
//   kOrder      `d` as products want them side by side: the first kGates go back through W, the
//               last kGates, in the order of the gates, through U
struct Rnn {
  static constexpr int64_t kGates = 1, kSaved = 1, kOrder[] = {0};
  static constexpr bool kHasCell = false;

  static void forward(const Lanes (&x)[1], const Lanes (&u)[1], Units& state, Lanes (&saved)[1]) {
    saved[0] = state.hidden = tanh(x[0] + u[0]);
  }

  static void backward(const Lanes (&saved)[1], const Units&, Units& gradient, Lanes (&d)[1]) {
    d[0] = gradient.hidden * tanh_slope(saved[0]);
    gradient.hidden = Lanes{};
  }
};

struct Gru {
  static constexpr int64_t kGates = 3, kSaved = 4, kOrder[] = {2, 0, 1, 3};
  static constexpr bool kHasCell = false;

  static void forward(const Lanes (&x)[3], const Lanes (&u)[3], Units& state, Lanes (&saved)[4]) {
    const Lanes r = sigmoid(x[0] + u[0]), z = sigmoid(x[1] + u[1]), q = u[2];
    const Lanes n = tanh(x[2] + r * q);
    state.hidden = n + z * (state.hidden - n);
    saved[0] = r, saved[1] = z, saved[2] = n, saved[3] = q;
  }

  static void backward(const Lanes (&saved)[4], const Units& before, Units& gradient,
                       Lanes (&d)[4]) {
    const Lanes r = saved[0], z = saved[1], n = saved[2], q = saved[3], dh = gradient.hidden;
    const Lanes dn = dh * (broadcast(1.0f) - z) * tanh_slope(n);
    d[0] = dn * q * sigmoid_slope(r);
    d[1] = dh * (before.hidden - n) * sigmoid_slope(z);
    d[2] = dn;
    d[3] = dn * r;
    gradient.hidden = dh * z;
  }
};

struct Lstm {
  static constexpr int64_t kGates = 4, kSaved = 4, kOrder[] = {0, 1, 2, 3};
  static constexpr bool kHasCell = true;

  static void forward(const Lanes (&x)[4], const Lanes (&u)[4], Units& state, Lanes (&saved)[4]) {
    const Lanes i = sigmoid(x[0] + u[0]), f = sigmoid(x[1] + u[1]), o = sigmoid(x[3] + u[3]);
    const Lanes g = tanh(x[2] + u[2]);
    state.cell = f * state.cell + i * g;
    state.hidden = o * tanh(state.cell);
    saved[0] = i, saved[1] = f, saved[2] = g, saved[3] = o;
  }

  static void backward(const Lanes (&saved)[4], const Units& before, Units& gradient,
                       Lanes (&d)[4]) {
    const Lanes i = saved[0], f = saved[1], g = saved[2], o = saved[3], dh = gradient.hidden;
    const Lanes t = tanh(f * before.cell + i * g);
    const Lanes dc = gradient.cell + dh * o * tanh_slope(t);
    d[0] = dc * g * sigmoid_slope(i);
    d[1] = dc * before.cell * sigmoid_slope(f);
    d[2] = dc * i * tanh_slope(g);
    d[3] = dh * t * sigmoid_slope(o);
    gradient.hidden = Lanes{};
    gradient.cell = dc * f;
  }
};

/// work() with the type of that cell.
template <class Work>
inline void with_cell(RecurrentCell cell, const Work& work) {
  if (cell == RecurrentCell::Rnn) return work.template operator()<Rnn>();
  if (cell == RecurrentCell::Gru) return work.template operator()<Gru>();
  work.template operator()<Lstm>();
}

/// What one row of a step reads and writes, besides the products of its input.
struct CellRow {
  const float *recurrent, *input_bias, *recurrent_bias;  // U h, b, b' [G H]
  float *hidden, *cell;                                  // [H]: before, then after
  float* output;                                         // [H]: h' once more
  float *gates, *hidden_before, *cell_before;            // for backward [K H], [H], [H]; the second
                                                         // null: nobody wants them
};

/// input(at, lanes): the products of the input at a number of [G H].
template <class Cell, class Input>
inline void cell_row_forward(const CellRow& row, int64_t h, Input input) {
  constexpr int64_t G = Cell::kGates, K = Cell::kSaved;
  for_vectors(h, [&](int64_t unit, auto lanes) {
    Lanes x[G], u[G], saved[K];
    for (int64_t g = 0; g < G; ++g) {
      const int64_t at = g * h + unit;
      x[g] = input(at, lanes) + load(row.input_bias + at, lanes);
      u[g] = load(row.recurrent + at, lanes) + load(row.recurrent_bias + at, lanes);
    }
    Units state{load(row.hidden + unit, lanes),
                Cell::kHasCell ? load(row.cell + unit, lanes) : Lanes{}};
    if (row.hidden_before) {
      store(row.hidden_before + unit, state.hidden, lanes);
      if constexpr (Cell::kHasCell) store(row.cell_before + unit, state.cell, lanes);
    }
    Cell::forward(x, u, state, saved);
    if (row.hidden_before)
      for (int64_t k = 0; k < K; ++k) store(row.gates + k * h + unit, saved[k], lanes);
    store(row.hidden + unit, state.hidden, lanes);
    store(row.output + unit, state.hidden, lanes);
    if constexpr (Cell::kHasCell) store(row.cell + unit, state.cell, lanes);
  });
}

struct CellRowGradient {
  const float *gates, *hidden_before, *cell_before;  // from the forward pass [K H], [H], [H]
  const float* output;                               // [H]: what arrived at h'; null: 0
  float *hidden, *cell;                              // [H]: go back by one step
  float *gradients, *sums;                           // d [K H], and what it is added to
  float* ordered;                                    // d once more, in the order of kOrder
};

template <class Cell>
inline void cell_row_backward(const CellRowGradient& row, int64_t h) {
  constexpr int64_t K = Cell::kSaved;
  for_vectors(h, [&](int64_t unit, auto lanes) {
    Lanes saved[K], d[K];
    for (int64_t k = 0; k < K; ++k) saved[k] = load(row.gates + k * h + unit, lanes);
    const Units before{load(row.hidden_before + unit, lanes),
                       Cell::kHasCell ? load(row.cell_before + unit, lanes) : Lanes{}};
    Units gradient{load(row.hidden + unit, lanes),
                   Cell::kHasCell ? load(row.cell + unit, lanes) : Lanes{}};
    if (row.output) gradient.hidden += load(row.output + unit, lanes);
    Cell::backward(saved, before, gradient, d);
    for (int64_t k = 0; k < K; ++k) {
      const int64_t at = k * h + unit;
      store(row.gradients + at, d[k], lanes);
      store(row.sums + at, load(row.sums + at, lanes) + d[k], lanes);
      store(row.ordered + at, d[Cell::kOrder[k]], lanes);
    }
    store(row.hidden + unit, gradient.hidden, lanes);
    if constexpr (Cell::kHasCell) store(row.cell + unit, gradient.cell, lanes);
  });
}

}  // namespace
}  // namespace fovea::kernels
