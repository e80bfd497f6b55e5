#include "fovea/kernels/layer_norm/layer_norm.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/dropout/dropout-inl.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

float sum_of_row(const float* z, int64_t columns) {
  Accumulator total;
  for_columns(columns, [&](int64_t c, int64_t slot, auto lanes) {
    total.slots[slot] += load(z + c, lanes);
  });
  return total.total();
}

/// z = residual + dropout(x); the sum of z.
float add_residual(const Dropout& dropout, int64_t row, int64_t columns, const float* x,
                   const float* residual, float* z) {
  Accumulator total;
  for_dropout_columns(
      dropout, row, columns, [&](int64_t c, int64_t slot, auto lanes, auto dropped) {
        const Lanes both =
            load(residual + c, lanes) + zero_others(dropped(load(x + c, lanes)), lanes);
        store(z + c, both, lanes);
        total.slots[slot] += both;
      });
  return total.total();
}

float squared_distance(const float* z, int64_t columns, float mean) {
  Accumulator total;
  for_columns(columns, [&](int64_t c, int64_t slot, auto lanes) {
    const Lanes distance = zero_others(load(z + c, lanes) - broadcast(mean), lanes);
    total.slots[slot] += distance * distance;
  });
  return total.total();
}

/// y = (z - mean) / sigma * gamma + beta
void normalise(const LayerNormForward& at, const float* z, int64_t columns, float mean,
               float inverse_sigma, float* y) {
  const Lanes m = broadcast(mean), scale = broadcast(inverse_sigma);
  for_columns(columns, [&](int64_t c, int64_t, auto lanes) {
    const Lanes normal = (load(z + c, lanes) - m) * scale;
    store(y + c, normal * load(at.gamma + c, lanes) + load(at.beta + c, lanes), lanes);
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
  for_columns(columns, [&](int64_t c, int64_t slot, auto lanes) {
    const Lanes normal = (load(row.z + c, lanes) - row.mean) * row.inverse_sigma;
    const Lanes dy = load(row.dy + c, lanes), h = dy * load(row.gamma + c, lanes);
    h_sum.slots[slot] += h;  // 0 beyond the end, like dy
    hn_sum.slots[slot] += zero_others(h * normal, lanes);
    store(dgamma + c, load(dgamma + c, lanes) + dy * normal, lanes);
    store(dbeta + c, load(dbeta + c, lanes) + dy, lanes);
  });
  const float share = 1 / static_cast<float>(columns);
  row.mean_h = broadcast(h_sum.total() * share);
  row.mean_hn = broadcast(hn_sum.total() * share);
}

/// dz of a row.
void spread(const Row& row, int64_t columns, const float* more, float* dz) {
  for_columns(columns, [&](int64_t c, int64_t, auto lanes) {
    const Lanes own =
        row.gradient(load(row.z + c, lanes), load(row.dy + c, lanes), load(row.gamma + c, lanes));
    store(dz + c, more ? own + load(more + c, lanes) : own, lanes);
  });
}

void forward(const LayerNormShape& shape, int64_t slice, const LayerNormForward& at) {
  const int64_t columns = shape.columns;
  const float share = 1 / static_cast<float>(columns);
  const SliceRows rows(slice, kLayerNormRows, shape.rows);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
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

void backward(const LayerNormShape& shape, int64_t slice, const LayerNormBackward& at) {
  const int64_t columns = shape.columns;
  float* dgamma = at.sums + slice * 2 * columns;
  float* dbeta = dgamma + columns;
  fill_row(dgamma, 2 * columns, 0);
  const SliceRows rows(slice, kLayerNormRows, shape.rows);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t begin = r * columns;
    Row row{at.z + begin, at.dy + begin, at.gamma, broadcast(at.mean[r]),
            broadcast(at.inverse_sigma[r])};
    gather(row, columns, dgamma, dbeta);
    spread(row, columns, at.dz_more ? at.dz_more + begin : nullptr, at.dz + begin);
    if (!at.dx) continue;
    for_dropout_columns(shape.dropout, r, columns,
                        [&](int64_t c, int64_t, auto lanes, auto dropped) {
                          store(at.dx + begin + c, dropped(load(at.dz + begin + c, lanes)), lanes);
                        });
  }
}

}  // namespace

struct LayerNormTable {
  decltype(&layer_norm_forward) forward;
  decltype(&layer_norm_backward) backward;
};
FOVEA_TABLE(LayerNormTable, forward, backward)

#ifdef FOVEA_ENTRY_POINTS

void layer_norm_forward(const LayerNormShape& shape, int64_t slice, const LayerNormForward& at) {
  table().forward(shape, slice, at);
}

void layer_norm_backward(const LayerNormShape& shape, int64_t slice, const LayerNormBackward& at) {
  table().backward(shape, slice, at);
}

void layer_norm_sums(const LayerNormShape& shape, const float* sums, float* dgamma, float* dbeta) {
  fill_row(dgamma, shape.columns, 0);
  fill_row(dbeta, shape.columns, 0);
  for (int64_t slice = 0; slice < shape.slices(); ++slice, sums += 2 * shape.columns)
    for (int64_t c = 0; c < shape.columns; ++c)
      dgamma[c] += sums[c], dbeta[c] += sums[shape.columns + c];
}

#endif

}  // namespace fovea::kernels
