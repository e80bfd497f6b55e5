// A slice walks over the steps of its rows. Rows are sorted by length, so those that have not ended
// stand in front:
//   P = H U^T, Q = X W^T     [active, G H]       U and W packed in panels that stay in the caches
//   gates and states of every active row from P and Q
// and back:
//   gradients of the gates D of every active row
//   dH += D U, dX = D W      [active, H], [active, I]
#include "fovea/kernels/recurrent/recurrent.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/panels-inl.h"
#include "fovea/kernels/recurrent/cells-inl.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

/// The rows of a slice, the longest first.
class SortedRows {
 public:
  SortedRows(const RecurrentShape& shape, int64_t slice)
      : shape_(shape),
        rows_(shape.descending + slice * shape.rows_of_slice()),
        count_(SliceRows(slice, shape.rows_of_slice(), shape.rows).count()) {}

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
void gather_rows(const SortedRows& rows, const float* from, int64_t units, float* to,
                 int64_t stride) {
  for (int64_t i = 0; i < rows.count(); ++i)
    copy_row(from ? from + rows.row(i) * units : nullptr, units, to + i * stride);
}
void scatter_rows(const SortedRows& rows, const float* from, int64_t stride, int64_t units,
                  float* to) {
  for (int64_t i = 0; i < rows.count(); ++i)
    copy_row(from + i * stride, units, to + rows.row(i) * units);
}

template <class Cell>
class ForwardSlice {
  static constexpr int64_t G = Cell::kGates, K = Cell::kSaved;

 public:
  ForwardSlice(const RecurrentShape& shape, int64_t slice, const RecurrentForward& at,
               float* scratch)
      : at_(at),
        rows_(shape, slice),
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
        if (t + 1 < rows_.length(i)) prefetch_step(i, t + 1);
      }
    }
    scatter_rows(rows_, hidden_, h_, h_, at_.last_hidden);
    if constexpr (Cell::kHasCell) scatter_rows(rows_, cell_, h_, h_, at_.last_cell);
    clear_padding();
  }

 private:
  void multiply_inputs(int64_t active, int64_t t) {
    for (int64_t i = 0; i < active; ++i)
      copy_row(at_.x + rows_.entry(i, t) * w_.rows, w_.rows, inputs_ + i * w_.rows);
    multiply_panels<Into::Fresh>(inputs_, w_.rows, w_, input_products_, active);
  }

  void step(int64_t i, int64_t t) {
    const int64_t entry = rows_.entry(i, t), row = i * whole_panels(G * h_);
    float* gates = at_.gates + entry * K * h_;
    const float* of_w = w_.rows > 0 ? input_products_ + row : gates;
    const bool saves = at_.hidden_before != nullptr;
    cell_row_forward<Cell>(
        {.recurrent = products_ + row,
         .input_bias = at_.input_bias,
         .recurrent_bias = at_.recurrent_bias,
         .hidden = hidden_ + i * h_,
         .cell = cell_ + i * h_,
         .output = at_.outputs + rows_.padded(i, t) * at_.output_row,
         .gates = gates,
         .hidden_before = saves ? at_.hidden_before + entry * h_ : nullptr,
         .cell_before = saves && Cell::kHasCell ? at_.cell_before + entry * h_ : nullptr},
        h_, [&](int64_t at, auto lanes) { return load(of_w + at, lanes); });
  }

  /// The next product gives time to fetch what the step after it reads and writes.
  void prefetch_step(int64_t i, int64_t t) {
    const int64_t entry = rows_.entry(i, t);
    prefetch(at_.gates + entry * K * h_, K * h_);
    prefetch(at_.outputs + rows_.padded(i, t) * at_.output_row, h_);
    if (!at_.hidden_before) return;
    prefetch(at_.hidden_before + entry * h_, h_);
    if constexpr (Cell::kHasCell) prefetch(at_.cell_before + entry * h_, h_);
  }

  void clear_padding() {
    for (int64_t i = 0; i < rows_.count(); ++i)
      for (int64_t t = rows_.length(i); t < steps_; ++t)
        copy_row(nullptr, h_, at_.outputs + (rows_.row(i) * steps_ + t) * at_.output_row);
  }

  const RecurrentForward& at_;
  const SortedRows rows_;
  const int64_t h_, steps_;
  const Panels u_, w_;                 // w_ has no rows where the caller multiplies
  float *products_, *input_products_;  // [rows, G H], rows of whole panels: U h and W x
  float* inputs_;                      // [rows, I]: x side by side
  float *hidden_, *cell_;              // [rows, H]: the states now
};

template <class Cell>
class BackwardSlice {
  static constexpr int64_t G = Cell::kGates, K = Cell::kSaved;

 public:
  BackwardSlice(const RecurrentShape& shape, int64_t slice, const RecurrentBackward& at,
                float* scratch)
      : at_(at),
        rows_(shape, slice),
        h_(shape.hidden),
        u_{at.packed, G * h_, h_},
        w_{at.packed + u_.size(), G * h_, shape.inputs},
        hidden_(scratch),
        inputs_(hidden_ + rows_.count() * whole_panels(h_)),
        gates_(inputs_ + rows_.count() * whole_panels(w_.columns)),
        cell_(gates_ + rows_.count() * K * h_),
        sums_(at.sums + slice * K * h_) {}

  void run() {
    const int64_t stride = whole_panels(h_);
    copy_row(nullptr, rows_.count() * stride, hidden_);
    copy_row(nullptr, K * h_, sums_);
    gather_rows(rows_, at_.last_hidden, h_, hidden_, stride);
    if constexpr (Cell::kHasCell) gather_rows(rows_, at_.last_cell, h_, cell_, h_);
    int64_t active = 0;
    for (int64_t t = rows_.longest() - 1; t >= 0; --t) {
      active = rows_.active(t, active);
      for (int64_t i = 0; i < active; ++i) {
        step(i, t);
        if (t > 0) prefetch_step(i, t - 1);
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
      for_vectors(w_.columns, [&](int64_t unit, auto lanes) {
        const Lanes own = load(from + unit, lanes);
        store(to + unit, at_.adds_to_x ? load(to + unit, lanes) + own : own, lanes);
      });
    }
  }

  void step(int64_t i, int64_t t) {
    const int64_t entry = rows_.entry(i, t);
    cell_row_backward<Cell>(
        {.gates = at_.gates + entry * K * h_,
         .hidden_before = at_.hidden_before + entry * h_,
         .cell_before = Cell::kHasCell ? at_.cell_before + entry * h_ : nullptr,
         .output = at_.outputs ? at_.outputs + rows_.padded(i, t) * at_.output_row : nullptr,
         .hidden = hidden_ + i * whole_panels(h_),
         .cell = cell_ + i * h_,
         .gradients = at_.gate_gradients + entry * K * h_,
         .sums = sums_,
         .ordered = gates_ + i * K * h_},
        h_);
  }

  /// The next product gives time to fetch what the step after it reads and writes.
  void prefetch_step(int64_t i, int64_t t) {
    const int64_t entry = rows_.entry(i, t);
    prefetch(at_.gates + entry * K * h_, K * h_);
    prefetch(at_.gate_gradients + entry * K * h_, K * h_);
    if (at_.outputs) prefetch(at_.outputs + rows_.padded(i, t) * at_.output_row, h_);
    prefetch((Cell::kHasCell ? at_.cell_before : at_.hidden_before) + entry * h_, h_);
  }

  const RecurrentBackward& at_;
  const SortedRows rows_;
  const int64_t h_;
  const Panels u_, w_;  // w_ has no columns where the caller multiplies
  float* hidden_;       // [rows, H], rows of whole panels: the gradient of h
  float* inputs_;       // [rows, I], the same: the gradient of x
  float* gates_;        // [rows, K H]: d in the order of Cell::kOrder
  float* cell_;         // [rows, H]: the gradient of c
  float* sums_;         // [K H]
};

void pack_forward(const RecurrentShape& shape, const float* w, const float* u, float* packed) {
  const int64_t h = shape.hidden, width = shape.gates() * h, inputs = shape.inputs;
  pack_panels(h, width, packed, [&](int64_t row, int64_t column) { return u[column * h + row]; });
  pack_panels(inputs, width, packed + h * whole_panels(width),
              [&](int64_t row, int64_t column) { return w[column * inputs + row]; });
}

void pack_backward(const RecurrentShape& shape, const float* w, const float* u, float* packed) {
  const int64_t h = shape.hidden, width = shape.gates() * h, inputs = shape.inputs;
  const auto source = [&](int64_t row) {
    return shape.cell == RecurrentCell::Gru ? Gru::kOrder[row / h] * h + row % h : row;
  };
  pack_panels(width, h, packed, [&](int64_t row, int64_t column) { return u[row * h + column]; });
  pack_panels(width, inputs, packed + width * whole_panels(h),
              [&](int64_t row, int64_t column) { return w[source(row) * inputs + column]; });
}

void forward(const RecurrentShape& shape, int64_t slice, const RecurrentForward& at,
             float* scratch) {
  with_cell(shape.cell, [&]<class Cell>() { ForwardSlice<Cell>(shape, slice, at, scratch).run(); });
}

void backward(const RecurrentShape& shape, int64_t slice, const RecurrentBackward& at,
              float* scratch) {
  with_cell(shape.cell,
            [&]<class Cell>() { BackwardSlice<Cell>(shape, slice, at, scratch).run(); });
}

}  // namespace

struct RecurrentTable {
  decltype(&recurrent_pack_forward) pack_forward;
  decltype(&recurrent_pack_backward) pack_backward;
  decltype(&recurrent_forward) forward;
  decltype(&recurrent_backward) backward;
};
FOVEA_TABLE(RecurrentTable, pack_forward, pack_backward, forward, backward)

#ifdef FOVEA_ENTRY_POINTS

int64_t RecurrentShape::rows_of_slice() const {
  const int64_t wanted = max(rows >= kRecurrentRows ? 2 : 1, ceil_div(rows, kRecurrentRows));
  return max(kTallestTile, round_up(ceil_div(rows, wanted), kTallestTile));
}

int64_t RecurrentShape::slices() const {
  return ceil_div(rows, rows_of_slice());
}

int64_t RecurrentShape::packed() const {
  const int64_t width = gates() * hidden;
  return max(round_up(width, kWidestPanel) * (hidden + inputs),
             (round_up(hidden, kWidestPanel) + round_up(inputs, kWidestPanel)) * width);
}

int64_t RecurrentShape::scratch() const {
  const int64_t products = round_up(gates() * hidden, kWidestPanel);
  return rows_of_slice() * max(2 * products + inputs + 2 * hidden,
                               round_up(hidden, kWidestPanel) + round_up(inputs, kWidestPanel) +
                                   (saved() + 1) * hidden);
}

void recurrent_pack_forward(const RecurrentShape& shape, const float* w, const float* u,
                            float* packed) {
  table().pack_forward(shape, w, u, packed);
}

void recurrent_pack_backward(const RecurrentShape& shape, const float* w, const float* u,
                             float* packed) {
  table().pack_backward(shape, w, u, packed);
}

void recurrent_forward(const RecurrentShape& shape, int64_t slice, const RecurrentForward& at,
                       float* scratch) {
  table().forward(shape, slice, at, scratch);
}

void recurrent_backward(const RecurrentShape& shape, int64_t slice, const RecurrentBackward& at,
                        float* scratch) {
  table().backward(shape, slice, at, scratch);
}

void recurrent_bias_gradients(const RecurrentShape& shape, const float* sums, float* input_bias,
                              float* recurrent_bias) {
  const int64_t h = shape.hidden, row = shape.saved() * h;
  for (int64_t gate = 0; gate < shape.gates(); ++gate)
    for (int64_t unit = 0; unit < h; ++unit) {
      const float *input = sums + gate * h + unit,
                  *recurrent = sums + shape.saved_of(gate) * h + unit;
      float input_sum = 0, recurrent_sum = 0;
      for (int64_t slice = 0; slice < shape.slices(); ++slice)
        input_sum += input[slice * row], recurrent_sum += recurrent[slice * row];
      input_bias[gate * h + unit] = input_sum;
      recurrent_bias[gate * h + unit] = recurrent_sum;
    }
}

#endif

}  // namespace fovea::kernels
