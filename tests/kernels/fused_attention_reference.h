// Attention in double precision, with the whole matrix of weights, written from the formulas of
// fovea/kernels/fused_attention.h: what the kernel's tests hold it against.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fovea/kernels/fused_attention/fused_attention.h"
#include "fovea/kernels/philox.h"

namespace fovea::kernels {

/// Sizes and masks of one test; the numbers are made from the seed.
struct AttentionCase {
  std::string name;
  int64_t batch = 2, heads = 2, key_heads = 2, queries = 5, keys = 7, head_size = 3, value_size = 4;
  int64_t first_query = 0;
  int64_t band_low = INT64_MIN, band_high = INT64_MAX;
  bool keep_keys = false;     // some keys of every batch, and the last ones, are not kept
  bool keep_queries = false;  // some queries are not kept
  bool slopes = false;
  double dropout_rate = 0;
  double size = 1;  // of the largest query
};

/// Dense [B, heads, rows, width].
struct AttentionInputs {
  std::vector<double> q, k, v, out_gradient, slopes;
  std::vector<uint8_t> keep_keys, keep_queries;
  double scale = 1;
  uint64_t dropout_key = 0x1234567890ABCDEF;
};

struct AttentionResult {
  std::vector<double> out, lse, weights;  // [B, H, Q, Dv], [B, H, Q], [B, H, Q, K]
  std::vector<double> q, k, v;            // gradients
};

class AttentionReference {
 public:
  AttentionReference(const AttentionCase& sizes, const AttentionInputs& inputs)
      : c_(sizes), in_(inputs) {}

  AttentionResult compute() const {
    AttentionResult r;
    const int64_t rows = c_.batch * c_.heads * c_.queries;
    r.out.resize(size_t(rows * c_.value_size));
    r.lse.resize(size_t(rows));
    r.weights.resize(size_t(rows * c_.keys));
    r.q.resize(in_.q.size());
    r.k.resize(in_.k.size());
    r.v.resize(in_.v.size());
    for (int64_t b = 0; b < c_.batch; ++b)
      for (int64_t h = 0; h < c_.heads; ++h)
        for (int64_t i = 0; i < c_.queries; ++i) row(b, h, i, r);
    return r;
  }

  bool visible(int64_t b, int64_t i, int64_t j) const {
    if (!in_.keep_keys.empty() && !in_.keep_keys[size_t(b * c_.keys + j)]) return false;
    if (!in_.keep_queries.empty() && !in_.keep_queries[size_t(b * c_.queries + i)]) return false;
    const int64_t distance = j - (c_.first_query + i);
    return distance >= c_.band_low && distance <= c_.band_high;
  }

 private:
  void row(int64_t b, int64_t h, int64_t i, AttentionResult& r) const {
    const int64_t row = (b * c_.heads + h) * c_.queries + i;
    const int64_t key_row = (b * c_.key_heads + h / (c_.heads / c_.key_heads)) * c_.keys;
    const double* q = &in_.q[size_t(row * c_.head_size)];
    const double* g = &in_.out_gradient[size_t(row * c_.value_size)];
    double* a = c_.keys > 0 ? &r.weights[size_t(row * c_.keys)] : nullptr;
    double top = -INFINITY, total = 0;
    std::vector<double> score(size_t(c_.keys), -INFINITY);
    for (int64_t j = 0; j < c_.keys; ++j) {
      if (!visible(b, i, j)) continue;
      const double* k = &in_.k[size_t((key_row + j) * c_.head_size)];
      double dot = 0;
      for (int64_t d = 0; d < c_.head_size; ++d) dot += q[d] * k[d];
      score[size_t(j)] = in_.scale * dot;
      if (c_.slopes)
        score[size_t(j)] -= in_.slopes[size_t(h)] * std::abs(double(c_.first_query + i - j));
      top = std::max(top, score[size_t(j)]);
    }
    for (double s : score) total += std::isinf(top) ? 0 : std::exp(s - top);
    r.lse[size_t(row)] = total == 0 ? -INFINITY : top + std::log(total);
    if (total == 0) return;
    for (int64_t j = 0; j < c_.keys; ++j) a[j] = std::exp(score[size_t(j)] - top) / total;
    double* out = &r.out[size_t(row * c_.value_size)];
    std::vector<double> slope(size_t(c_.keys), 0.0);  // gradient of a
    double delta = 0;
    for (int64_t j = 0; j < c_.keys; ++j) {
      const double kept = dropout_factor(row, j);
      const double* v = &in_.v[size_t((key_row + j) * c_.value_size)];
      for (int64_t d = 0; d < c_.value_size; ++d) {
        out[d] += a[j] * kept * v[d];
        slope[size_t(j)] += g[d] * v[d] * kept;
        r.v[size_t((key_row + j) * c_.value_size + d)] += a[j] * kept * g[d];
      }
      delta += a[j] * slope[size_t(j)];
    }
    for (int64_t j = 0; j < c_.keys; ++j)
      for (int64_t d = 0; d < c_.head_size; ++d) {
        const double score_gradient = in_.scale * a[j] * (slope[size_t(j)] - delta);
        const size_t key = size_t((key_row + j) * c_.head_size + d);
        r.q[size_t(row * c_.head_size + d)] += score_gradient * in_.k[key];
        r.k[key] += score_gradient * q[d];
      }
  }

  double dropout_factor(int64_t row, int64_t column) const {
    if (c_.dropout_rate == 0) return 1;
    const auto threshold = uint32_t(std::llround(c_.dropout_rate * 0x1p32));
    const PhiloxBlock block =
        philox(uint64_t(column / 64 * 16 + column % 16), uint64_t(row), in_.dropout_key);
    return block.words[column % 64 / 16] < threshold ? 0 : 1 / (1 - c_.dropout_rate);
  }

  const AttentionCase& c_;
  const AttentionInputs& in_;
};

}  // namespace fovea::kernels
