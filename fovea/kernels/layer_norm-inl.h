// Body of layer normalisation, compiled once per instruction set. See layer_norm.h for the
// formulas.
#include "fovea/kernels/dropout_lanes-inl.h"
#include "fovea/kernels/layer_norm.h"

namespace {

using fovea::kernels::kLayerNormRows;
using fovea::kernels::LayerNormBackward;
using fovea::kernels::LayerNormForward;
using fovea::kernels::LayerNormShape;

float sum_of_row(const float* z, int64_t columns) {
  Accumulator total;
  for_columns(
      columns, [&](int64_t c, int64_t slot) { total.slots[slot] += load(z + c); },
      [&](int64_t c, int64_t count) { total.slots[0] += load(z + c, count); });
  return total.total();
}

/// z = residual + dropout(x); the sum of z.
float add_residual(const Dropout& dropout, int64_t row, int64_t columns, const float* x,
                   const float* residual, float* z) {
  Accumulator total;
  const auto add = [&](int64_t c, int64_t slot, Lanes added) {
    const Lanes both = load(residual + c) + added;
    store(z + c, both);
    total.slots[slot] += both;
  };
  const auto add_rest = [&](int64_t c, int64_t count, Lanes added) {
    const Lanes both = load(residual + c, count) + first_of(added, count);
    store(z + c, both, count);
    total.slots[0] += both;
  };
  if (dropout.threshold == 0)
    for_columns(
        columns, [&](int64_t c, int64_t slot) { add(c, slot, load(x + c)); },
        [&](int64_t c, int64_t count) { add_rest(c, count, load(x + c, count)); });
  else
    for_columns_with_words(
        dropout.key, row, columns,
        [&](int64_t c, int64_t slot, WordLanes words) {
          add(c, slot, kept(dropout, words, load(x + c)));
        },
        [&](int64_t c, int64_t count, WordLanes words) {
          add_rest(c, count, kept(dropout, words, load(x + c, count)));
        });
  return total.total();
}

float squared_distance(const float* z, int64_t columns, float mean) {
  Accumulator total;
  for_columns(
      columns,
      [&](int64_t c, int64_t slot) {
        const Lanes distance = load(z + c) - all(mean);
        total.slots[slot] += distance * distance;
      },
      [&](int64_t c, int64_t count) {
        const Lanes distance = first_of(load(z + c, count) - all(mean), count);
        total.slots[0] += distance * distance;
      });
  return total.total();
}

/// y = (z - mean) / sigma * gamma + beta
void normalise(const LayerNormForward& at, const float* z, int64_t columns, float mean,
               float inverse_sigma, float* y) {
  const Lanes m = all(mean), scale = all(inverse_sigma);
  for_columns(
      columns,
      [&](int64_t c, int64_t) {
        store(y + c, (load(z + c) - m) * scale * load(at.gamma + c) + load(at.beta + c));
      },
      [&](int64_t c, int64_t count) {
        const Lanes normal = (load(z + c, count) - m) * scale;
        store(y + c, normal * load(at.gamma + c, count) + load(at.beta + c, count), count);
      });
}

/// What the backward pass of a row needs of it.
struct Row {
  const float *z, *dy, *gamma;
  Lanes mean, inverse_sigma;
  Lanes mean_h{}, mean_hn{};  // of h = dy gamma and of h n

  /// dz without what else arrives there.
  Lanes gradient(Lanes z_lanes, Lanes dy_lanes, Lanes gamma_lanes) const {
    const Lanes normal = (z_lanes - mean) * inverse_sigma;
    return inverse_sigma * (dy_lanes * gamma_lanes - mean_h - normal * mean_hn);
  }
};

/// Adds the row to dgamma and dbeta, and finds its two means.
void gather(Row& row, int64_t columns, float* dgamma, float* dbeta) {
  Accumulator h_sum, hn_sum;
  for_columns(
      columns,
      [&](int64_t c, int64_t slot) {
        const Lanes normal = (load(row.z + c) - row.mean) * row.inverse_sigma;
        const Lanes dy = load(row.dy + c), h = dy * load(row.gamma + c);
        h_sum.slots[slot] += h;
        hn_sum.slots[slot] += h * normal;
        store(dgamma + c, load(dgamma + c) + dy * normal);
        store(dbeta + c, load(dbeta + c) + dy);
      },
      [&](int64_t c, int64_t count) {
        const Lanes normal = (load(row.z + c, count) - row.mean) * row.inverse_sigma;
        const Lanes dy = load(row.dy + c, count), h = dy * load(row.gamma + c, count);
        h_sum.slots[0] += h;  // 0 beyond the end, like dy
        hn_sum.slots[0] += first_of(h * normal, count);
        store(dgamma + c, load(dgamma + c, count) + dy * normal, count);
        store(dbeta + c, load(dbeta + c, count) + dy, count);
      });
  const float share = 1 / static_cast<float>(columns);
  row.mean_h = all(h_sum.total() * share);
  row.mean_hn = all(hn_sum.total() * share);
}

/// dz of a row.
void spread(const Row& row, int64_t columns, const float* more, float* dz) {
  for_columns(
      columns,
      [&](int64_t c, int64_t) {
        const Lanes own = row.gradient(load(row.z + c), load(row.dy + c), load(row.gamma + c));
        store(dz + c, more ? own + load(more + c) : own);
      },
      [&](int64_t c, int64_t count) {
        const Lanes own = row.gradient(load(row.z + c, count), load(row.dy + c, count),
                                       load(row.gamma + c, count));
        store(dz + c, more ? own + load(more + c, count) : own, count);
      });
}

/// dx = dz where x was kept, scaled.
void spread_to_kept(const Dropout& dropout, int64_t row, int64_t columns, const float* dz,
                    float* dx) {
  for_columns_with_words(
      dropout.key, row, columns,
      [&](int64_t c, int64_t, WordLanes words) {
        store(dx + c, kept(dropout, words, load(dz + c)));
      },
      [&](int64_t c, int64_t count, WordLanes words) {
        store(dx + c, kept(dropout, words, load(dz + c, count)), count);
      });
}

int64_t end_of_part(const LayerNormShape& shape, int64_t part) {
  const int64_t end = (part + 1) * kLayerNormRows;
  return end < shape.rows ? end : shape.rows;
}

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void layer_norm_forward(const LayerNormShape& shape, int64_t part, const LayerNormForward& at) {
  const int64_t columns = shape.columns;
  const float share = 1 / static_cast<float>(columns);
  for (int64_t row = part * kLayerNormRows; row < end_of_part(shape, part); ++row) {
    const int64_t begin = row * columns;
    const float* z = at.residual ? at.z + begin : at.x + begin;
    const float total = at.residual ? add_residual(shape.dropout, row, columns, at.x + begin,
                                                   at.residual + begin, at.z + begin)
                                    : sum_of_row(z, columns);
    const float mean = total * share;
    const float variance = squared_distance(z, columns, mean) * share;
    const float inverse_sigma = 1 / __builtin_sqrtf(variance + shape.epsilon);
    normalise(at, z, columns, mean, inverse_sigma, at.y + begin);
    at.mean[row] = mean;
    at.inverse_sigma[row] = inverse_sigma;
  }
}

void layer_norm_backward(const LayerNormShape& shape, int64_t part, const LayerNormBackward& at) {
  const int64_t columns = shape.columns;
  float* dgamma = at.sums + part * 2 * columns;
  float* dbeta = dgamma + columns;
  __builtin_memset(dgamma, 0, static_cast<uint64_t>(2 * columns) * sizeof(float));
  for (int64_t r = part * kLayerNormRows; r < end_of_part(shape, part); ++r) {
    const int64_t begin = r * columns;
    Row row{at.z + begin, at.dy + begin, at.gamma, all(at.mean[r]), all(at.inverse_sigma[r])};
    gather(row, columns, dgamma, dbeta);
    spread(row, columns, at.dz_more ? at.dz_more + begin : nullptr, at.dz + begin);
    if (at.dx) spread_to_kept(shape.dropout, r, columns, at.dz + begin, at.dx + begin);
  }
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
