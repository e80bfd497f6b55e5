// Body of the recurrent layer that looks, compiled once per instruction set. A part walks over the
// steps of its rows:
//   [P, Q] = H [U^T, A^T]     [rows, G H + F]      all weights packed in panels
//   scores, weights and contexts C of every row from Q
//   P' = C Z^T                [rows, G H]
//   gates and states of every row from P and P'
// and back:
//   gradients of the gates D, then of the contexts, dC += D Z, then of the queries dQ
//   dH += [D, dQ] [U, A]      [rows, H]
#pragma once

#include "fovea/kernels/attentive_recurrent.h"
#include "fovea/kernels/panels-inl.h"
#include "fovea/kernels/recurrent_cells-inl.h"
#include "fovea/kernels/units-inl.h"

namespace {

using fovea::kernels::AttentiveBackward;
using fovea::kernels::AttentiveForward;
using fovea::kernels::AttentiveShape;
using fovea::kernels::AttentiveWeights;
using fovea::kernels::RecurrentCell;

inline int64_t whole_vectors(int64_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

inline float dot(const float* a, const float* b, int64_t count) {
  Lanes total{};
  for_units(count, [&](int64_t i, auto part) { total += load(a + i, part) * load(b + i, part); });
  return sum(total);
}

/// to += factor from
inline void add_scaled(float factor, const float* from, int64_t count, float* to) {
  for_units(count, [&](int64_t i, auto part) {
    store(to + i, load(to + i, part) + all(factor) * load(from + i, part), part);
  });
}

/// Scores [K] become weights: softmax of those that are kept, 0 for the others. Whole vectors may
/// be written.
inline void softmax_kept(float* scores, const uint8_t* keep, int64_t keys) {
  const float none = -__builtin_inff();
  Lanes most = all(none);
  for (int64_t j = 0; j < whole_vectors(keys); ++j)
    if (j >= keys || (keep && !keep[j])) scores[j] = none;
  for (int64_t j = 0; j < keys; j += kLanes) most = larger(most, load(scores + j));
  float top = none;
  for (int64_t lane = 0; lane < kLanes; ++lane) top = most[lane] > top ? most[lane] : top;
  const bool sees = top > none;
  Lanes total{};
  for (int64_t j = 0; j < keys; j += kLanes) {
    const Lanes now = sees ? exponential(load(scores + j) - all(top)) : Lanes{};
    total += now;
    store(scores + j, now);
  }
  const Lanes share = all(sees ? 1.0f / sum(total) : 0.0f);
  for (int64_t j = 0; j < keys; j += kLanes) store(scores + j, load(scores + j) * share);
}

/// tanh of a query and a key, as they are or as powers (risen()).
struct OfSums {
  static Lanes tanh(Lanes query, Lanes key) { return hyperbolic_tangent(query + key); }
};
struct OfPowers {
  static Lanes tanh(Lanes query, Lanes key) { return tangent_of_sum(query, key); }
};

/// to = risen(from); whether tanh may be taken of what stands there.
inline bool raise(const float* from, int64_t count, float* to) {
  Lanes most{};
  for_units(count, [&](int64_t i, auto part) {
    const Lanes x = load(from + i, part);
    most = larger(most, larger(x, -x));
    store(to + i, risen(x), part);
  });
  return !any(most > all(kMostRisen));
}

/// The rows of a part, one after the other.
struct RowRange {
  int64_t begin, count;

  RowRange(const AttentiveShape& shape, int64_t part) : begin(part * shape.rows_of_part()) {
    const int64_t left = shape.rows - begin;
    count = left < shape.rows_of_part() ? left : shape.rows_of_part();
  }
};

/// Queries and keys of additive scores, raised where that is exact.
class Energies {
 public:
  Energies(const AttentiveShape& shape, const RowRange& rows, const float* keys, float* scratch)
      : row_(shape.keys * shape.key_size),
        size_(shape.key_size),
        keys_(keys + rows.begin * row_),
        powers_(scratch),
        query_power_(powers_ + rows.count * row_),
        large_(query_power_ + whole_vectors(size_)) {
    if (!shape.additive) return;
    for (int64_t i = 0; i < rows.count; ++i) {
      const uint8_t* keep = shape.keep ? shape.keep + (rows.begin + i) * shape.keys : nullptr;
      large_[i] = 0;
      for (int64_t j = 0; j < shape.keys; ++j) {
        const int64_t at = i * row_ + j * size_;
        if ((!keep || keep[j]) && !raise(keys_ + at, size_, powers_ + at)) large_[i] = 1;
      }
    }
  }

  /// work(OfPowers or OfSums, query [F], keys [K, F]) for row i of the part.
  template <class Work>
  void with_row(int64_t i, const float* query, Work work) const {
    if (large_[i] == 0 && raise(query, size_, query_power_))
      work(OfPowers(), query_power_, powers_ + i * row_);
    else
      work(OfSums(), query, keys_ + i * row_);
  }

 private:
  int64_t row_, size_;  // K F, F
  const float* keys_;
  float *powers_, *query_power_;  // [rows, K, F], [F]
  float* large_;                  // [rows]: 1 where a key that is kept cannot be raised
};

template <class Cell>
class AttentiveForwardPart {
  static constexpr int64_t G = Cell::kGates, K = Cell::kKept;

 public:
  AttentiveForwardPart(const AttentiveShape& shape, int64_t part, const AttentiveForward& at,
                       float* scratch)
      : shape_(shape),
        at_(at),
        rows_(shape, part),
        h_(shape.hidden),
        of_hidden_{at.packed, h_, G * h_ + shape.query_size()},
        of_context_{at.packed + of_hidden_.size(), shape.value_size, G * h_},
        products_(scratch),
        context_products_(products_ + rows_.count * whole_panels(of_hidden_.columns)),
        contexts_(context_products_ + rows_.count * whole_panels(G * h_)),
        hidden_(contexts_ + rows_.count * shape.value_size),
        cell_(hidden_ + rows_.count * h_),
        weights_(cell_ + rows_.count * h_),
        energies_(shape, rows_, at.keys, weights_ + whole_vectors(shape.keys)) {}

  void run() {
    const int64_t states = rows_.count * h_;
    copy_units(at_.start_hidden + rows_.begin * h_, states, hidden_);
    if constexpr (Cell::kHasCell) copy_units(at_.start_cell + rows_.begin * h_, states, cell_);
    for (int64_t t = 0; t < shape_.steps; ++t) {
      multiply_panels<Into::Fresh>(hidden_, h_, of_hidden_, products_, rows_.count);
      for (int64_t i = 0; i < rows_.count; ++i) look(i, t);
      multiply_panels<Into::Fresh>(contexts_, shape_.value_size, of_context_, context_products_,
                                   rows_.count);
      for (int64_t i = 0; i < rows_.count; ++i) step(i, t);
    }
  }

 private:
  int64_t entry(int64_t i, int64_t t) const { return (rows_.begin + i) * shape_.steps + t; }

  /// The query's weights and their context.
  void look(int64_t i, int64_t t) {
    const int64_t row = rows_.begin + i, keys = shape_.keys, f = shape_.key_size;
    const uint8_t* keep = shape_.keep ? shape_.keep + row * keys : nullptr;
    const float *first_key = at_.keys + row * keys * f,
                *first_value = at_.values + row * keys * shape_.value_size;
    if (shape_.additive)
      energies_.with_row(i, make_query(i, t), [&](auto curve, const float* query, const float* of) {
        for (int64_t j = 0; j < keys; ++j) {
          if (keep && !keep[j]) continue;
          Lanes total{};
          for_units(f, [&](int64_t unit, auto part) {
            total += load(at_.energy + unit, part) *
                     curve.tanh(load(query + unit, part), load(of + j * f + unit, part));
          });
          weights_[j] = sum(total);
        }
      });
    else
      for (int64_t j = 0; j < keys; ++j)
        if (!keep || keep[j])
          weights_[j] = shape_.scale * dot(hidden_ + i * h_, first_key + j * f, f);
    softmax_kept(weights_, keep, keys);
    copy_units(weights_, keys, at_.attention + entry(i, t) * keys);
    sum_values(first_value, keep, contexts_ + i * shape_.value_size);
    copy_units(contexts_ + i * shape_.value_size, shape_.value_size,
               at_.contexts + entry(i, t) * shape_.value_size);
  }

  /// The values [K, C] of a row by their weights: four vectors of columns at a time, so that the
  /// additions of one do not wait for each other.
  void sum_values(const float* values, const uint8_t* keep, float* context) {
    constexpr int64_t kTogether = 4;
    const int64_t c = shape_.value_size, whole = c / (kTogether * kLanes) * kTogether * kLanes;
    for (int64_t unit = 0; unit < whole; unit += kTogether * kLanes) {
      Lanes sums[kTogether]{};
      for (int64_t j = 0; j < shape_.keys; ++j) {
        if (keep && !keep[j]) continue;
#pragma GCC unroll 4
        for (int64_t v = 0; v < kTogether; ++v)
          sums[v] += all(weights_[j]) * load(values + j * c + unit + v * kLanes);
      }
      for (int64_t v = 0; v < kTogether; ++v) store(context + unit + v * kLanes, sums[v]);
    }
    for_units(c - whole, [&](int64_t unit, auto part) {
      Lanes total{};
      for (int64_t j = 0; j < shape_.keys; ++j)
        if (!keep || keep[j]) total += all(weights_[j]) * load(values + j * c + whole + unit, part);
      store(context + whole + unit, total, part);
    });
  }

  const float* make_query(int64_t i, int64_t t) {
    const float* product = products_ + i * whole_panels(of_hidden_.columns) + G * h_;
    float* query = at_.queries + entry(i, t) * shape_.key_size;
    for_units(shape_.key_size, [&](int64_t unit, auto part) {
      const Lanes bias = at_.query_bias ? load(at_.query_bias + unit, part) : Lanes{};
      store(query + unit, load(product + unit, part) + bias, part);
    });
    return query;
  }

  void step(int64_t i, int64_t t) {
    const int64_t now = entry(i, t);
    float* gates = at_.gates + now * K * h_;
    const float *of_u = products_ + i * whole_panels(of_hidden_.columns),
                *of_z = context_products_ + i * whole_panels(G * h_);
    float *hidden = hidden_ + i * h_, *cell = cell_ + i * h_;
    for_units(h_, [&](int64_t unit, auto part) {
      Lanes x[G], u[G], kept[K];
      for (int64_t g = 0; g < G; ++g) {
        const int64_t at = g * h_ + unit;
        x[g] = load(gates + at, part) + load(of_z + at, part) + load(at_.input_bias + at, part);
        u[g] = load(of_u + at, part) + load(at_.recurrent_bias + at, part);
      }
      Units state{load(hidden + unit, part), Cell::kHasCell ? load(cell + unit, part) : Lanes{}};
      store(at_.hidden_before + now * h_ + unit, state.hidden, part);
      if constexpr (Cell::kHasCell) store(at_.cell_before + now * h_ + unit, state.cell, part);
      Cell::forward(x, u, state, kept);
      for (int64_t k = 0; k < K; ++k) store(gates + k * h_ + unit, kept[k], part);
      store(hidden + unit, state.hidden, part);
      store(at_.outputs + now * h_ + unit, state.hidden, part);
      if constexpr (Cell::kHasCell) store(cell + unit, state.cell, part);
    });
  }

  const AttentiveShape& shape_;
  const AttentiveForward& at_;
  const RowRange rows_;
  const int64_t h_;
  const Panels of_hidden_, of_context_;  // U and A side by side; Z
  float* products_;                      // [rows, G H + F], rows of whole panels
  float* context_products_;              // [rows, G H], the same
  float* contexts_;                      // [rows, C]
  float *hidden_, *cell_;                // [rows, H]: the states now
  float* weights_;                       // [K], whole vectors: of one row
  const Energies energies_;
};

template <class Cell>
class AttentiveBackwardPart {
  static constexpr int64_t G = Cell::kGates, K = Cell::kKept;

 public:
  AttentiveBackwardPart(const AttentiveShape& shape, int64_t part, const AttentiveBackward& at,
                        float* scratch)
      : shape_(shape),
        at_(at),
        rows_(shape, part),
        h_(shape.hidden),
        gate_row_(K * h_ + shape.query_size()),
        to_hidden_{at.packed, G * h_ + shape.query_size(), h_},
        to_context_{at.packed + to_hidden_.size(), G * h_, shape.value_size},
        hidden_(scratch),
        contexts_(hidden_ + rows_.count * whole_panels(h_)),
        gates_(contexts_ + rows_.count * whole_panels(shape.value_size)),
        cell_(gates_ + rows_.count * gate_row_),
        scores_(cell_ + rows_.count * h_),
        energies_(shape, rows_, at.keys, scores_ + whole_vectors(shape.keys)),
        sums_(at.sums + part * K * h_),
        energy_sums_(shape.additive ? at.energy_sums + part * shape.key_size : nullptr) {}

  void run() {
    const int64_t memory = rows_.count * shape_.keys, first = rows_.begin * shape_.keys;
    copy_units(nullptr, rows_.count * whole_panels(h_), hidden_);
    copy_units(nullptr, rows_.count * h_, cell_);
    copy_units(nullptr, K * h_, sums_);
    copy_units(nullptr, memory * shape_.key_size, at_.key_gradients + first * shape_.key_size);
    copy_units(nullptr, memory * shape_.value_size,
               at_.value_gradients + first * shape_.value_size);
    if (shape_.additive) copy_units(nullptr, shape_.key_size, energy_sums_);
    for (int64_t t = shape_.steps - 1; t >= 0; --t) {
      for (int64_t i = 0; i < rows_.count; ++i) {
        step(i, t);
        if (t > 0) ask_for_step(i, t - 1);
      }
      multiply_panels<Into::Fresh>(gates_, gate_row_, to_context_, contexts_, rows_.count);
      for (int64_t i = 0; i < rows_.count; ++i) look(i, t);
      multiply_panels<Into::Sum>(gates_ + (K - G) * h_, gate_row_, to_hidden_, hidden_,
                                 rows_.count);
    }
    for (int64_t i = 0; i < rows_.count; ++i) {
      const int64_t row = (rows_.begin + i) * h_;
      copy_units(hidden_ + i * whole_panels(h_), h_, at_.start_hidden + row);
      if constexpr (Cell::kHasCell) copy_units(cell_ + i * h_, h_, at_.start_cell + row);
    }
  }

 private:
  int64_t entry(int64_t i, int64_t t) const { return (rows_.begin + i) * shape_.steps + t; }

  void step(int64_t i, int64_t t) {
    const int64_t now = entry(i, t);
    const float* gates = at_.gates + now * K * h_;
    float* gradients = at_.gate_gradients + now * K * h_;
    const float* output = at_.outputs ? at_.outputs + now * h_ : nullptr;
    float *hidden = hidden_ + i * whole_panels(h_), *cell = cell_ + i * h_,
          *to_multiply = gates_ + i * gate_row_;
    for_units(h_, [&](int64_t unit, auto part) {
      Lanes kept[K], d[K];
      for (int64_t k = 0; k < K; ++k) kept[k] = load(gates + k * h_ + unit, part);
      const auto before = [&](const float* states) { return load(states + now * h_ + unit, part); };
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

  /// The products after a step give time to fetch what the next one reads and writes.
  void ask_for_step(int64_t i, int64_t t) {
    const int64_t now = entry(i, t);
    ask_for(at_.gates + now * K * h_, K * h_);
    ask_for(at_.gate_gradients + now * K * h_, K * h_);
    if (at_.outputs) ask_for(at_.outputs + now * h_, h_);
    ask_for((Cell::kHasCell ? at_.cell_before : at_.hidden_before) + now * h_, h_);
  }

  /// From the gradient of a row's context to those of values, keys and query.
  void look(int64_t i, int64_t t) {
    const int64_t row = rows_.begin + i, now = entry(i, t), keys = shape_.keys, f = shape_.key_size,
                  c = shape_.value_size;
    const uint8_t* keep = shape_.keep ? shape_.keep + row * keys : nullptr;
    const float* weights = at_.attention + now * keys;
    float* context = contexts_ + i * whole_panels(c);
    if (at_.contexts) add_scaled(1, at_.contexts + now * c, c, context);
    float mean = 0;
    for (int64_t j = 0; j < keys; ++j) {
      scores_[j] = 0;
      if (keep && !keep[j]) continue;
      const int64_t place = (row * keys + j) * c;
      Lanes total{};
      for_units(c, [&](int64_t unit, auto part) {
        const Lanes own = load(context + unit, part);
        float* gradient = at_.value_gradients + place + unit;
        total += own * load(at_.values + place + unit, part);
        store(gradient, load(gradient, part) + all(weights[j]) * own, part);
      });
      scores_[j] = sum(total);
      mean += weights[j] * scores_[j];
    }
    for (int64_t j = 0; j < keys; ++j) scores_[j] = weights[j] * (scores_[j] - mean);
    if (shape_.additive) return through_energies(i, now, keep);
    float* query = hidden_ + i * whole_panels(h_);
    for (int64_t j = 0; j < keys; ++j) {
      if (keep && !keep[j]) continue;
      const int64_t place = (row * keys + j) * f;
      add_scaled(shape_.scale * scores_[j], at_.keys + place, f, query);
      add_scaled(shape_.scale * scores_[j], at_.hidden_before + now * h_, f,
                 at_.key_gradients + place);
    }
  }

  /// Back through the scores v . tanh(q + k) of a row.
  void through_energies(int64_t i, int64_t now, const uint8_t* keep) {
    const int64_t keys = shape_.keys, f = shape_.key_size, first = (rows_.begin + i) * keys * f;
    float* query_gradient = gates_ + i * gate_row_ + K * h_;
    energies_.with_row(
        i, at_.queries + now * f, [&](auto curve, const float* query, const float* of) {
          for_units(f, [&](int64_t unit, auto part) {
            const Lanes own = load(query + unit, part), energy = load(at_.energy + unit, part);
            Lanes of_query{}, of_energy = load(energy_sums_ + unit, part);
            for (int64_t j = 0; j < keys; ++j) {
              if (keep && !keep[j]) continue;
              float* gradient = at_.key_gradients + first + j * f + unit;
              const Lanes score = all(scores_[j]),
                          y = curve.tanh(own, load(of + j * f + unit, part));
              const Lanes d = score * energy * tangent_slope(y);
              of_energy += score * y;
              of_query += d;
              store(gradient, load(gradient, part) + d, part);
            }
            store(energy_sums_ + unit, of_energy, part);
            store(query_gradient + unit, of_query, part);
            store(at_.query_gradients + now * f + unit, of_query, part);
          });
        });
  }

  const AttentiveShape& shape_;
  const AttentiveBackward& at_;
  const RowRange rows_;
  const int64_t h_, gate_row_;
  const Panels to_hidden_, to_context_;  // U and A one below the other; Z
  float* hidden_;                        // [rows, H], rows of whole panels: the gradient of h
  float* contexts_;                      // [rows, C], the same: the gradient of z
  float* gates_;   // [rows, K H + F]: d in the order of Cell::kOrder, then the
                   // gradient of the query
  float* cell_;    // [rows, H]: the gradient of c
  float* scores_;  // [K]: of one row
  const Energies energies_;
  float *sums_, *energy_sums_;  // [K H], [F]
};

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void attentive_pack_forward(const AttentiveShape& shape, const AttentiveWeights& weights,
                            float* packed) {
  const int64_t h = shape.hidden, width = shape.gates() * h;
  const Panels of_hidden{packed, h, width + shape.query_size()};
  pack_panels(h, of_hidden.columns, packed, [&](int64_t row, int64_t column) {
    return column < width ? weights.u[column * h + row] : weights.query[(column - width) * h + row];
  });
  pack_panels(shape.value_size, width, packed + of_hidden.size(),
              [&](int64_t row, int64_t column) { return weights.z[column * weights.z_row + row]; });
}

void attentive_pack_backward(const AttentiveShape& shape, const AttentiveWeights& weights,
                             float* packed) {
  const int64_t h = shape.hidden, width = shape.gates() * h;
  const Panels to_hidden{packed, width + shape.query_size(), h};
  pack_panels(to_hidden.rows, h, packed, [&](int64_t row, int64_t column) {
    return row < width ? weights.u[row * h + column] : weights.query[(row - width) * h + column];
  });
  pack_panels(width, shape.value_size, packed + to_hidden.size(), [&](int64_t row, int64_t column) {
    const int64_t source =
        shape.cell == RecurrentCell::Gru ? Gru::kOrder[row / h] * h + row % h : row;
    return weights.z[source * weights.z_row + column];
  });
}

void attentive_forward(const AttentiveShape& shape, int64_t part, const AttentiveForward& at,
                       float* scratch) {
  if (shape.cell == RecurrentCell::Rnn)
    return AttentiveForwardPart<Rnn>(shape, part, at, scratch).run();
  if (shape.cell == RecurrentCell::Gru)
    return AttentiveForwardPart<Gru>(shape, part, at, scratch).run();
  AttentiveForwardPart<Lstm>(shape, part, at, scratch).run();
}

void attentive_backward(const AttentiveShape& shape, int64_t part, const AttentiveBackward& at,
                        float* scratch) {
  if (shape.cell == RecurrentCell::Rnn)
    return AttentiveBackwardPart<Rnn>(shape, part, at, scratch).run();
  if (shape.cell == RecurrentCell::Gru)
    return AttentiveBackwardPart<Gru>(shape, part, at, scratch).run();
  AttentiveBackwardPart<Lstm>(shape, part, at, scratch).run();
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
