// A slice walks over the steps of its rows:
//   [P, Q] = H [U^T, A^T]     [rows, G H + F]      all weights packed in panels
//   scores, weights and contexts C of every row from Q
//   P' = C Z^T                [rows, G H]
//   gates and states of every row from P and P'
// and back:
//   gradients of the gates D, then of the contexts, dC += D Z, then of the queries dQ
//   dH += [D, dQ] [U, A]      [rows, H]
#include "fovea/kernels/attention_decoder/attention_decoder.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/panels-inl.h"
#include "fovea/kernels/recurrent/cells-inl.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

inline int64_t whole_vectors(int64_t count) {
  return round_up(count, kLanes);
}

inline float dot(const float* a, const float* b, int64_t count) {
  Lanes total{};
  for_vectors(count,
              [&](int64_t i, auto lanes) { total += load(a + i, lanes) * load(b + i, lanes); });
  return sum(total);
}

/// to += factor from
inline void add_scaled(float factor, const float* from, int64_t count, float* to) {
  for_vectors(count, [&](int64_t i, auto lanes) {
    store(to + i, load(to + i, lanes) + broadcast(factor) * load(from + i, lanes), lanes);
  });
}

/// Scores [K] become weights: softmax of those that are kept, 0 for the others. Whole vectors may
/// be written.
inline void masked_softmax(float* scores, const uint8_t* keep, int64_t keys) {
  const float none = -__builtin_inff();
  Lanes most = broadcast(none);
  for (int64_t j = 0; j < whole_vectors(keys); ++j)
    if (j >= keys || (keep && !keep[j])) scores[j] = none;
  for (int64_t j = 0; j < keys; j += kLanes) most = max(most, load(scores + j));
  float top = none;
  for (int64_t lane = 0; lane < kLanes; ++lane) top = most[lane] > top ? most[lane] : top;
  const bool sees = top > none;
  Lanes total{};
  for (int64_t j = 0; j < keys; j += kLanes) {
    const Lanes now = sees ? exp(load(scores + j) - broadcast(top)) : Lanes{};
    total += now;
    store(scores + j, now);
  }
  const Lanes share = broadcast(sees ? 1.0f / sum(total) : 0.0f);
  for (int64_t j = 0; j < keys; j += kLanes) store(scores + j, load(scores + j) * share);
}

/// tanh of a query and a key, as they are or as powers (exp_2x()).
struct OfSums {
  static Lanes tanh(Lanes query, Lanes key) { return kernels::tanh(query + key); }
};
struct OfPowers {
  static Lanes tanh(Lanes query, Lanes key) { return tanh_of_sum(query, key); }
};

/// to = exp_2x(from); whether tanh may be taken of what stands there.
inline bool raise(const float* from, int64_t count, float* to) {
  Lanes most{};
  for_vectors(count, [&](int64_t i, auto lanes) {
    const Lanes x = load(from + i, lanes);
    most = max(most, max(x, -x));
    store(to + i, exp_2x(x), lanes);
  });
  return !any(most > broadcast(kMostExp2x));
}

/// Queries and keys of additive scores, raised where that is exact.
class Energies {
 public:
  Energies(const AttentionDecoderShape& shape, const SliceRows& rows, const float* keys,
           float* scratch)
      : row_(shape.keys * shape.key_size),
        size_(shape.key_size),
        keys_(keys + rows.begin * row_),
        powers_(scratch),
        query_power_(powers_ + rows.count() * row_),
        large_(query_power_ + whole_vectors(size_)) {
    if (!shape.additive) return;
    for (int64_t i = 0; i < rows.count(); ++i) {
      const uint8_t* keep = shape.keep ? shape.keep + (rows.begin + i) * shape.keys : nullptr;
      large_[i] = 0;
      for (int64_t j = 0; j < shape.keys; ++j) {
        const int64_t at = i * row_ + j * size_;
        if ((!keep || keep[j]) && !raise(keys_ + at, size_, powers_ + at)) large_[i] = 1;
      }
    }
  }

  /// work(OfPowers or OfSums, query [F], keys [K, F]) for row i of the slice.
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
class ForwardSlice {
  static constexpr int64_t G = Cell::kGates, K = Cell::kSaved;

 public:
  ForwardSlice(const AttentionDecoderShape& shape, int64_t slice, const AttentionDecoderForward& at,
               float* scratch)
      : shape_(shape),
        at_(at),
        rows_(slice, shape.rows_of_slice(), shape.rows),
        h_(shape.hidden),
        of_hidden_{at.packed, h_, G * h_ + shape.query_size()},
        of_context_{at.packed + of_hidden_.size(), shape.value_size, G * h_},
        products_(scratch),
        context_products_(products_ + rows_.count() * whole_panels(of_hidden_.columns)),
        contexts_(context_products_ + rows_.count() * whole_panels(G * h_)),
        hidden_(contexts_ + rows_.count() * shape.value_size),
        cell_(hidden_ + rows_.count() * h_),
        weights_(cell_ + rows_.count() * h_),
        energies_(shape, rows_, at.keys, weights_ + whole_vectors(shape.keys)) {}

  void run() {
    const int64_t states = rows_.count() * h_;
    copy_row(at_.start_hidden + rows_.begin * h_, states, hidden_);
    if constexpr (Cell::kHasCell) copy_row(at_.start_cell + rows_.begin * h_, states, cell_);
    for (int64_t t = 0; t < shape_.steps; ++t) {
      multiply_panels<Into::Fresh>(hidden_, h_, of_hidden_, products_, rows_.count());
      for (int64_t i = 0; i < rows_.count(); ++i) attend(i, t);
      multiply_panels<Into::Fresh>(contexts_, shape_.value_size, of_context_, context_products_,
                                   rows_.count());
      for (int64_t i = 0; i < rows_.count(); ++i) step(i, t);
    }
  }

 private:
  int64_t entry(int64_t i, int64_t t) const { return (rows_.begin + i) * shape_.steps + t; }

  /// The query's weights and their context.
  void attend(int64_t i, int64_t t) {
    const int64_t row = rows_.begin + i, keys = shape_.keys, f = shape_.key_size;
    const uint8_t* keep = shape_.keep ? shape_.keep + row * keys : nullptr;
    const float *first_key = at_.keys + row * keys * f,
                *first_value = at_.values + row * keys * shape_.value_size;
    if (shape_.additive)
      energies_.with_row(i, make_query(i, t), [&](auto curve, const float* query, const float* of) {
        for (int64_t j = 0; j < keys; ++j) {
          if (keep && !keep[j]) continue;
          Lanes total{};
          for_vectors(f, [&](int64_t unit, auto lanes) {
            total += load(at_.energy + unit, lanes) *
                     curve.tanh(load(query + unit, lanes), load(of + j * f + unit, lanes));
          });
          weights_[j] = sum(total);
        }
      });
    else
      for (int64_t j = 0; j < keys; ++j)
        if (!keep || keep[j])
          weights_[j] = shape_.scale * dot(hidden_ + i * h_, first_key + j * f, f);
    masked_softmax(weights_, keep, keys);
    copy_row(weights_, keys, at_.attention + entry(i, t) * keys);
    sum_values(first_value, keep, contexts_ + i * shape_.value_size);
    copy_row(contexts_ + i * shape_.value_size, shape_.value_size,
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
          sums[v] += broadcast(weights_[j]) * load(values + j * c + unit + v * kLanes);
      }
      for (int64_t v = 0; v < kTogether; ++v) store(context + unit + v * kLanes, sums[v]);
    }
    for_vectors(c - whole, [&](int64_t unit, auto lanes) {
      Lanes total{};
      for (int64_t j = 0; j < shape_.keys; ++j)
        if (!keep || keep[j])
          total += broadcast(weights_[j]) * load(values + j * c + whole + unit, lanes);
      store(context + whole + unit, total, lanes);
    });
  }

  const float* make_query(int64_t i, int64_t t) {
    const float* product = products_ + i * whole_panels(of_hidden_.columns) + G * h_;
    float* query = at_.queries + entry(i, t) * shape_.key_size;
    for_vectors(shape_.key_size, [&](int64_t unit, auto lanes) {
      const Lanes bias = at_.query_bias ? load(at_.query_bias + unit, lanes) : Lanes{};
      store(query + unit, load(product + unit, lanes) + bias, lanes);
    });
    return query;
  }

  void step(int64_t i, int64_t t) {
    const int64_t now = entry(i, t);
    float* gates = at_.gates + now * K * h_;
    const float* of_z = context_products_ + i * whole_panels(G * h_);
    cell_row_forward<Cell>({.recurrent = products_ + i * whole_panels(of_hidden_.columns),
                            .input_bias = at_.input_bias,
                            .recurrent_bias = at_.recurrent_bias,
                            .hidden = hidden_ + i * h_,
                            .cell = cell_ + i * h_,
                            .output = at_.outputs + now * h_,
                            .gates = gates,
                            .hidden_before = at_.hidden_before + now * h_,
                            .cell_before = Cell::kHasCell ? at_.cell_before + now * h_ : nullptr},
                           h_, [&](int64_t at, auto lanes) {
                             return load(gates + at, lanes) + load(of_z + at, lanes);
                           });
  }

  const AttentionDecoderShape& shape_;
  const AttentionDecoderForward& at_;
  const SliceRows rows_;
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
class BackwardSlice {
  static constexpr int64_t G = Cell::kGates, K = Cell::kSaved;

 public:
  BackwardSlice(const AttentionDecoderShape& shape, int64_t slice,
                const AttentionDecoderBackward& at, float* scratch)
      : shape_(shape),
        at_(at),
        rows_(slice, shape.rows_of_slice(), shape.rows),
        h_(shape.hidden),
        gate_row_(K * h_ + shape.query_size()),
        to_hidden_{at.packed, G * h_ + shape.query_size(), h_},
        to_context_{at.packed + to_hidden_.size(), G * h_, shape.value_size},
        hidden_(scratch),
        contexts_(hidden_ + rows_.count() * whole_panels(h_)),
        gates_(contexts_ + rows_.count() * whole_panels(shape.value_size)),
        cell_(gates_ + rows_.count() * gate_row_),
        scores_(cell_ + rows_.count() * h_),
        energies_(shape, rows_, at.keys, scores_ + whole_vectors(shape.keys)),
        sums_(at.sums + slice * K * h_),
        energy_sums_(shape.additive ? at.energy_sums + slice * shape.key_size : nullptr) {}

  void run() {
    const int64_t memory = rows_.count() * shape_.keys, first = rows_.begin * shape_.keys;
    copy_row(nullptr, rows_.count() * whole_panels(h_), hidden_);
    copy_row(nullptr, rows_.count() * h_, cell_);
    copy_row(nullptr, K * h_, sums_);
    copy_row(nullptr, memory * shape_.key_size, at_.key_gradients + first * shape_.key_size);
    copy_row(nullptr, memory * shape_.value_size, at_.value_gradients + first * shape_.value_size);
    if (shape_.additive) copy_row(nullptr, shape_.key_size, energy_sums_);
    for (int64_t t = shape_.steps - 1; t >= 0; --t) {
      for (int64_t i = 0; i < rows_.count(); ++i) {
        step(i, t);
        if (t > 0) prefetch_step(i, t - 1);
      }
      multiply_panels<Into::Fresh>(gates_, gate_row_, to_context_, contexts_, rows_.count());
      for (int64_t i = 0; i < rows_.count(); ++i) attend(i, t);
      multiply_panels<Into::Sum>(gates_ + (K - G) * h_, gate_row_, to_hidden_, hidden_,
                                 rows_.count());
    }
    for (int64_t i = 0; i < rows_.count(); ++i) {
      const int64_t row = (rows_.begin + i) * h_;
      copy_row(hidden_ + i * whole_panels(h_), h_, at_.start_hidden + row);
      if constexpr (Cell::kHasCell) copy_row(cell_ + i * h_, h_, at_.start_cell + row);
    }
  }

 private:
  int64_t entry(int64_t i, int64_t t) const { return (rows_.begin + i) * shape_.steps + t; }

  void step(int64_t i, int64_t t) {
    const int64_t now = entry(i, t);
    cell_row_backward<Cell>({.gates = at_.gates + now * K * h_,
                             .hidden_before = at_.hidden_before + now * h_,
                             .cell_before = Cell::kHasCell ? at_.cell_before + now * h_ : nullptr,
                             .output = at_.outputs ? at_.outputs + now * h_ : nullptr,
                             .hidden = hidden_ + i * whole_panels(h_),
                             .cell = cell_ + i * h_,
                             .gradients = at_.gate_gradients + now * K * h_,
                             .sums = sums_,
                             .ordered = gates_ + i * gate_row_},
                            h_);
  }

  /// The products after a step give time to fetch what the next one reads and writes.
  void prefetch_step(int64_t i, int64_t t) {
    const int64_t now = entry(i, t);
    prefetch(at_.gates + now * K * h_, K * h_);
    prefetch(at_.gate_gradients + now * K * h_, K * h_);
    if (at_.outputs) prefetch(at_.outputs + now * h_, h_);
    prefetch((Cell::kHasCell ? at_.cell_before : at_.hidden_before) + now * h_, h_);
  }

  /// From the gradient of a row's context to those of values, keys and query.
  void attend(int64_t i, int64_t t) {
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
      for_vectors(c, [&](int64_t unit, auto lanes) {
        const Lanes own = load(context + unit, lanes);
        float* gradient = at_.value_gradients + place + unit;
        total += own * load(at_.values + place + unit, lanes);
        store(gradient, load(gradient, lanes) + broadcast(weights[j]) * own, lanes);
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
          for_vectors(f, [&](int64_t unit, auto lanes) {
            const Lanes own = load(query + unit, lanes), energy = load(at_.energy + unit, lanes);
            Lanes of_query{}, of_energy = load(energy_sums_ + unit, lanes);
            for (int64_t j = 0; j < keys; ++j) {
              if (keep && !keep[j]) continue;
              float* gradient = at_.key_gradients + first + j * f + unit;
              const Lanes score = broadcast(scores_[j]),
                          y = curve.tanh(own, load(of + j * f + unit, lanes));
              const Lanes d = score * energy * tanh_slope(y);
              of_energy += score * y;
              of_query += d;
              store(gradient, load(gradient, lanes) + d, lanes);
            }
            store(energy_sums_ + unit, of_energy, lanes);
            store(query_gradient + unit, of_query, lanes);
            store(at_.query_gradients + now * f + unit, of_query, lanes);
          });
        });
  }

  const AttentionDecoderShape& shape_;
  const AttentionDecoderBackward& at_;
  const SliceRows rows_;
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

void pack_forward(const AttentionDecoderShape& shape, const AttentionDecoderWeights& weights,
                  float* packed) {
  const int64_t h = shape.hidden, width = shape.gates() * h;
  const Panels of_hidden{packed, h, width + shape.query_size()};
  pack_panels(h, of_hidden.columns, packed, [&](int64_t row, int64_t column) {
    return column < width ? weights.u[column * h + row] : weights.query[(column - width) * h + row];
  });
  pack_panels(shape.value_size, width, packed + of_hidden.size(),
              [&](int64_t row, int64_t column) { return weights.z[column * weights.z_row + row]; });
}

void pack_backward(const AttentionDecoderShape& shape, const AttentionDecoderWeights& weights,
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

void forward(const AttentionDecoderShape& shape, int64_t slice, const AttentionDecoderForward& at,
             float* scratch) {
  with_cell(shape.cell, [&]<class Cell>() { ForwardSlice<Cell>(shape, slice, at, scratch).run(); });
}

void backward(const AttentionDecoderShape& shape, int64_t slice, const AttentionDecoderBackward& at,
              float* scratch) {
  with_cell(shape.cell,
            [&]<class Cell>() { BackwardSlice<Cell>(shape, slice, at, scratch).run(); });
}

}  // namespace

struct AttentionDecoderTable {
  decltype(&attention_decoder_pack_forward) pack_forward;
  decltype(&attention_decoder_pack_backward) pack_backward;
  decltype(&attention_decoder_forward) forward;
  decltype(&attention_decoder_backward) backward;
};
FOVEA_TABLE(AttentionDecoderTable, pack_forward, pack_backward, forward, backward)

#ifdef FOVEA_ENTRY_POINTS

/// To whole panels, which are whole vectors too, of any instruction set.
static int64_t widest_panels(int64_t columns) {
  return round_up(columns, kWidestPanel);
}

int64_t AttentionDecoderShape::packed() const {
  const int64_t width = gates() * hidden, products = width + query_size();
  return max(hidden * widest_panels(products) + value_size * widest_panels(width),
             products * widest_panels(hidden) + width * widest_panels(value_size));
}

int64_t AttentionDecoderShape::scratch() const {
  const int64_t width = gates() * hidden, query = query_size();
  const int64_t forward =
      widest_panels(width + query) + widest_panels(width) + value_size + 2 * hidden;
  const int64_t backward =
      widest_panels(hidden) + widest_panels(value_size) + (saved() + 1) * hidden + query;
  return rows_of_slice() * (max(forward, backward) + keys * query + 1) + widest_panels(keys) +
         widest_panels(query);
}

void attention_decoder_pack_forward(const AttentionDecoderShape& shape,
                                    const AttentionDecoderWeights& weights, float* packed) {
  table().pack_forward(shape, weights, packed);
}

void attention_decoder_pack_backward(const AttentionDecoderShape& shape,
                                     const AttentionDecoderWeights& weights, float* packed) {
  table().pack_backward(shape, weights, packed);
}

void attention_decoder_forward(const AttentionDecoderShape& shape, int64_t slice,
                               const AttentionDecoderForward& at, float* scratch) {
  table().forward(shape, slice, at, scratch);
}

void attention_decoder_backward(const AttentionDecoderShape& shape, int64_t slice,
                                const AttentionDecoderBackward& at, float* scratch) {
  table().backward(shape, slice, at, scratch);
}

#endif

}  // namespace fovea::kernels
