// Body of the recurrent layer, compiled once per instruction set. A part walks over the steps of
// its rows. Rows are sorted by length, so those that have not ended stand in front:
//   P = H U^T, Q = X W^T     [active, G H]       U and W packed in panels that stay in the caches
//   gates and states of every active row from P and Q
// and back:
//   gradients of the gates D of every active row
//   dH += D U, dX = D W      [active, H], [active, I]
#pragma once

#include "fovea/kernels/panels-inl.h"
#include "fovea/kernels/recurrent.h"
#include "fovea/kernels/recurrent_cells-inl.h"
#include "fovea/kernels/units-inl.h"

namespace {

using fovea::kernels::RecurrentBackward;
using fovea::kernels::RecurrentCell;
using fovea::kernels::RecurrentForward;
using fovea::kernels::RecurrentShape;

/// The rows of a part, the longest first.
class PartRows {
 public:
  PartRows(const RecurrentShape& shape, int64_t part)
      : shape_(shape), rows_(shape.descending + part * shape.rows_of_part()) {
    const int64_t left = shape.rows - part * shape.rows_of_part();
    count_ = left < shape.rows_of_part() ? left : shape.rows_of_part();
  }

  int64_t count() const { return count_; }
  int64_t row(int64_t i) const { return rows_[i]; }
  int64_t length(int64_t i) const { return shape_.lengths[rows_[i]]; }
  int64_t longest() const { return count_ > 0 ? length(0) : 0; }

  /// How many rows have a step `t`, when it is known of `before` rows or more, or of fewer.
  int64_t active(int64_t t, int64_t before) const {
    while (before > 0 && length(before - 1) <= t) --before;
    while (before < count_ && length(before) > t) ++before;
    return before;
  }

  /// Where the t-th step that is made stands in a row, from its first one.
  int64_t place(int64_t i, int64_t t) const { return shape_.reversed ? length(i) - 1 - t : t; }
  int64_t entry(int64_t i, int64_t t) const { return shape_.first[row(i)] + place(i, t); }
  int64_t padded(int64_t i, int64_t t) const { return row(i) * shape_.steps + place(i, t); }

 private:
  const RecurrentShape& shape_;
  const int64_t* rows_;
  int64_t count_;
};

/// Rows of [B, H], or zeros, into a buffer whose rows are `stride` apart, and out of one.
void gather_rows(const PartRows& rows, const float* from, int64_t units, float* to,
                 int64_t stride) {
  for (int64_t i = 0; i < rows.count(); ++i)
    copy_units(from ? from + rows.row(i) * units : nullptr, units, to + i * stride);
}
void scatter_rows(const PartRows& rows, const float* from, int64_t stride, int64_t units,
                  float* to) {
  for (int64_t i = 0; i < rows.count(); ++i)
    copy_units(from + i * stride, units, to + rows.row(i) * units);
}

template <class Cell>
class ForwardPart {
  static constexpr int64_t G = Cell::kGates, K = Cell::kKept;

 public:
  ForwardPart(const RecurrentShape& shape, int64_t part, const RecurrentForward& at, float* scratch)
      : at_(at),
        rows_(shape, part),
        h_(shape.hidden),
        steps_(shape.steps),
        u_{at.packed, h_, G * h_},
        w_{at.packed + u_.size(), shape.inputs, G * h_},
        products_(scratch),
        input_products_(products_ + rows_.count() * whole_panels(G * h_)),
        inputs_(input_products_ + (w_.rows > 0 ? rows_.count() * whole_panels(G * h_) : 0)),
        hidden_(inputs_ + rows_.count() * w_.rows),
        cell_(hidden_ + rows_.count() * h_) {}

  void run() {
    gather_rows(rows_, at_.start_hidden, h_, hidden_, h_);
    if constexpr (Cell::kHasCell) gather_rows(rows_, at_.start_cell, h_, cell_, h_);
    int64_t active = rows_.count();
    for (int64_t t = 0; t < rows_.longest(); ++t) {
      active = rows_.active(t, active);
      multiply_panels<Into::Fresh>(hidden_, h_, u_, products_, active);
      if (w_.rows > 0) multiply_inputs(active, t);
      for (int64_t i = 0; i < active; ++i) {
        step(i, t);
        if (t + 1 < rows_.length(i)) ask_for_step(i, t + 1);
      }
    }
    scatter_rows(rows_, hidden_, h_, h_, at_.last_hidden);
    if constexpr (Cell::kHasCell) scatter_rows(rows_, cell_, h_, h_, at_.last_cell);
    clear_padding();
  }

 private:
  void multiply_inputs(int64_t active, int64_t t) {
    for (int64_t i = 0; i < active; ++i)
      copy_units(at_.x + rows_.entry(i, t) * w_.rows, w_.rows, inputs_ + i * w_.rows);
    multiply_panels<Into::Fresh>(inputs_, w_.rows, w_, input_products_, active);
  }

  void step(int64_t i, int64_t t) {
    const int64_t entry = rows_.entry(i, t), row = i * whole_panels(G * h_);
    float* gates = at_.gates + entry * K * h_;
    const float *of_u = products_ + row, *of_w = w_.rows > 0 ? input_products_ + row : gates;
    float* output = at_.outputs + rows_.padded(i, t) * at_.output_row;
    float *hidden = hidden_ + i * h_, *cell = cell_ + i * h_;
    for_units(h_, [&](int64_t unit, auto part) {
      Lanes x[G], u[G], kept[K];
      for (int64_t g = 0; g < G; ++g) {
        const int64_t at = g * h_ + unit;
        x[g] = load(of_w + at, part) + load(at_.input_bias + at, part);
        u[g] = load(of_u + at, part) + load(at_.recurrent_bias + at, part);
      }
      Units state{load(hidden + unit, part), Cell::kHasCell ? load(cell + unit, part) : Lanes{}};
      if (at_.hidden_before) {
        store(at_.hidden_before + entry * h_ + unit, state.hidden, part);
        if constexpr (Cell::kHasCell) store(at_.cell_before + entry * h_ + unit, state.cell, part);
      }
      Cell::forward(x, u, state, kept);
      if (at_.hidden_before)
        for (int64_t k = 0; k < K; ++k) store(gates + k * h_ + unit, kept[k], part);
      store(hidden + unit, state.hidden, part);
      store(output + unit, state.hidden, part);
      if constexpr (Cell::kHasCell) store(cell + unit, state.cell, part);
    });
  }

  /// The next product gives time to fetch what the step after it reads and writes.
  void ask_for_step(int64_t i, int64_t t) {
    const int64_t entry = rows_.entry(i, t);
    ask_for(at_.gates + entry * K * h_, K * h_);
    ask_for(at_.outputs + rows_.padded(i, t) * at_.output_row, h_);
    if (!at_.hidden_before) return;
    ask_for(at_.hidden_before + entry * h_, h_);
    if constexpr (Cell::kHasCell) ask_for(at_.cell_before + entry * h_, h_);
  }

  void clear_padding() {
    for (int64_t i = 0; i < rows_.count(); ++i)
      for (int64_t t = rows_.length(i); t < steps_; ++t)
        copy_units(nullptr, h_, at_.outputs + (rows_.row(i) * steps_ + t) * at_.output_row);
  }

  const RecurrentForward& at_;
  const PartRows rows_;
  const int64_t h_, steps_;
  const Panels u_, w_;                 // w_ has no rows where the caller multiplies
  float *products_, *input_products_;  // [rows, G H], rows of whole panels: U h and W x
  float* inputs_;                      // [rows, I]: x side by side
  float *hidden_, *cell_;              // [rows, H]: the states now
};

template <class Cell>
class BackwardPart {
  static constexpr int64_t G = Cell::kGates, K = Cell::kKept;

 public:
  BackwardPart(const RecurrentShape& shape, int64_t part, const RecurrentBackward& at,
               float* scratch)
      : at_(at),
        rows_(shape, part),
        h_(shape.hidden),
        u_{at.packed, G * h_, h_},
        w_{at.packed + u_.size(), G * h_, shape.inputs},
        hidden_(scratch),
        inputs_(hidden_ + rows_.count() * whole_panels(h_)),
        gates_(inputs_ + rows_.count() * whole_panels(w_.columns)),
        cell_(gates_ + rows_.count() * K * h_),
        sums_(at.sums + part * K * h_) {}

  void run() {
    const int64_t stride = whole_panels(h_);
    copy_units(nullptr, rows_.count() * stride, hidden_);
    copy_units(nullptr, K * h_, sums_);
    gather_rows(rows_, at_.last_hidden, h_, hidden_, stride);
    if constexpr (Cell::kHasCell) gather_rows(rows_, at_.last_cell, h_, cell_, h_);
    int64_t active = 0;
    for (int64_t t = rows_.longest() - 1; t >= 0; --t) {
      active = rows_.active(t, active);
      for (int64_t i = 0; i < active; ++i) {
        step(i, t);
        if (t > 0) ask_for_step(i, t - 1);
      }
      multiply_panels<Into::Sum>(gates_ + (K - G) * h_, K * h_, u_, hidden_, active);
      if (w_.columns > 0 && at_.x) multiply_inputs(active, t);
    }
    scatter_rows(rows_, hidden_, stride, h_, at_.start_hidden);
    if constexpr (Cell::kHasCell) scatter_rows(rows_, cell_, h_, h_, at_.start_cell);
  }

 private:
  void multiply_inputs(int64_t active, int64_t t) {
    multiply_panels<Into::Fresh>(gates_, K * h_, w_, inputs_, active);
    for (int64_t i = 0; i < active; ++i) {
      const float* from = inputs_ + i * whole_panels(w_.columns);
      float* to = at_.x + rows_.entry(i, t) * w_.columns;
      for_units(w_.columns, [&](int64_t unit, auto part) {
        const Lanes own = load(from + unit, part);
        store(to + unit, at_.adds_to_x ? load(to + unit, part) + own : own, part);
      });
    }
  }

  void step(int64_t i, int64_t t) {
    const int64_t entry = rows_.entry(i, t);
    const float* gates = at_.gates + entry * K * h_;
    float* gradients = at_.gate_gradients + entry * K * h_;
    const float* output = at_.outputs ? at_.outputs + rows_.padded(i, t) * at_.output_row : nullptr;
    float *hidden = hidden_ + i * whole_panels(h_), *cell = cell_ + i * h_,
          *to_multiply = gates_ + i * K * h_;
    for_units(h_, [&](int64_t unit, auto part) {
      Lanes kept[K], d[K];
      for (int64_t k = 0; k < K; ++k) kept[k] = load(gates + k * h_ + unit, part);
      const auto before = [&](const float* states) {
        return load(states + entry * h_ + unit, part);
      };
      Units gradient{load(hidden + unit, part), Cell::kHasCell ? load(cell + unit, part) : Lanes{}};
      if (output) gradient.hidden += load(output + unit, part);
      Cell::backward(
          kept, {before(at_.hidden_before), Cell::kHasCell ? before(at_.cell_before) : Lanes{}},
          gradient, d);
      for (int64_t k = 0; k < K; ++k) {
        store(gradients + k * h_ + unit, d[k], part);
        store(sums_ + k * h_ + unit, load(sums_ + k * h_ + unit, part) + d[k], part);
        store(to_multiply + k * h_ + unit, d[Cell::kOrder[k]], part);
      }
      store(hidden + unit, gradient.hidden, part);
      if constexpr (Cell::kHasCell) store(cell + unit, gradient.cell, part);
    });
  }

  /// The next product gives time to fetch what the step after it reads and writes.
  void ask_for_step(int64_t i, int64_t t) {
    const int64_t entry = rows_.entry(i, t);
    ask_for(at_.gates + entry * K * h_, K * h_);
    ask_for(at_.gate_gradients + entry * K * h_, K * h_);
    if (at_.outputs) ask_for(at_.outputs + rows_.padded(i, t) * at_.output_row, h_);
    ask_for((Cell::kHasCell ? at_.cell_before : at_.hidden_before) + entry * h_, h_);
  }

  const RecurrentBackward& at_;
  const PartRows rows_;
  const int64_t h_;
  const Panels u_, w_;  // w_ has no columns where the caller multiplies
  float* hidden_;       // [rows, H], rows of whole panels: the gradient of h
  float* inputs_;       // [rows, I], the same: the gradient of x
  float* gates_;        // [rows, K H]: d in the order of Cell::kOrder
  float* cell_;         // [rows, H]: the gradient of c
  float* sums_;         // [K H]
};

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void recurrent_pack_forward(const RecurrentShape& shape, const float* w, const float* u,
                            float* packed) {
  const int64_t h = shape.hidden, width = shape.gates() * h, inputs = shape.inputs;
  pack_panels(h, width, packed, [&](int64_t row, int64_t column) { return u[column * h + row]; });
  pack_panels(inputs, width, packed + h * whole_panels(width),
              [&](int64_t row, int64_t column) { return w[column * inputs + row]; });
}

void recurrent_pack_backward(const RecurrentShape& shape, const float* w, const float* u,
                             float* packed) {
  const int64_t h = shape.hidden, width = shape.gates() * h, inputs = shape.inputs;
  const auto source = [&](int64_t row) {
    return shape.cell == RecurrentCell::Gru ? Gru::kOrder[row / h] * h + row % h : row;
  };
  pack_panels(width, h, packed, [&](int64_t row, int64_t column) { return u[row * h + column]; });
  pack_panels(width, inputs, packed + width * whole_panels(h),
              [&](int64_t row, int64_t column) { return w[source(row) * inputs + column]; });
}

void recurrent_forward(const RecurrentShape& shape, int64_t part, const RecurrentForward& at,
                       float* scratch) {
  if (shape.cell == RecurrentCell::Rnn) return ForwardPart<Rnn>(shape, part, at, scratch).run();
  if (shape.cell == RecurrentCell::Gru) return ForwardPart<Gru>(shape, part, at, scratch).run();
  ForwardPart<Lstm>(shape, part, at, scratch).run();
}

void recurrent_backward(const RecurrentShape& shape, int64_t part, const RecurrentBackward& at,
                        float* scratch) {
  if (shape.cell == RecurrentCell::Rnn) return BackwardPart<Rnn>(shape, part, at, scratch).run();
  if (shape.cell == RecurrentCell::Gru) return BackwardPart<Gru>(shape, part, at, scratch).run();
  BackwardPart<Lstm>(shape, part, at, scratch).run();
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
