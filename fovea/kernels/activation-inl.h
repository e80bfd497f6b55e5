// Body of the activations, compiled once per instruction set. See activation.h for the formulas.
#include "fovea/kernels/activation.h"
#include "fovea/kernels/dropout_lanes-inl.h"
#include "fovea/kernels/sigmoids-inl.h"

namespace {

using fovea::kernels::Activation;
using fovea::kernels::ActivationBackward;
using fovea::kernels::ActivationShape;
using fovea::kernels::kActivationRows;

struct Relu {
  static constexpr bool kKeepsX = false;
  static Lanes value(Lanes u) { return larger(Lanes{}, u); }
  /// From y instead of u; a NaN lets the gradient pass, as if it were above 0.
  static Lanes slope(Lanes y, Lanes dy) { return y <= Lanes{} ? Lanes{} : dy; }
};

/// Phi and phi of the normal distribution. With t = 1 / (1 + 0.26 |u|) the tail is
///   Phi(-|u|) = e^(-u^2/2) t P(t),
/// P of degree 8 fitted to a relative error of 3e-8 for |u| < 14, beyond which the tail is 0.
struct Normal {
  Lanes below, density;

  explicit Normal(Lanes u) {
    const Lanes bell = exponential(all(-0.5f) * u * u);
    const Lanes magnitude = u < Lanes{} ? -u : u;
    const Lanes t = all(1.0f) / (all(1.0f) + all(0.26f) * magnitude);
    constexpr float kP[] = {0.0305053105f, -0.152830844f, 0.251495355f, -0.15095349f, 0.160950894f,
                            0.0510264257f, 0.103030566f,  0.103016708f, 0.103759062f};
    Lanes p = all(kP[0]);
#pragma GCC unroll 8
    for (int i = 1; i < 9; ++i) p = p * t + all(kP[i]);
    const Lanes tail = bell * t * p;
    below = u < Lanes{} ? tail : all(1.0f) - tail;
    density = bell * all(0.3989422804f);
  }
};

struct Gelu {
  static constexpr bool kKeepsX = true;
  static Lanes value(Lanes u) { return u * Normal(u).below; }
  static Lanes slope(Lanes u, Lanes dy) {
    const Normal normal(u);
    return dy * (normal.below + u * normal.density);
  }
};

struct Tanh {
  static constexpr bool kKeepsX = true;
  static Lanes value(Lanes u) { return hyperbolic_tangent(u); }
  static Lanes slope(Lanes u, Lanes dy) { return dy * tangent_slope(hyperbolic_tangent(u)); }
};

int64_t end_of_part(const ActivationShape& shape, int64_t part) {
  const int64_t end = (part + 1) * kActivationRows;
  return end < shape.rows ? end : shape.rows;
}

template <class Act>
void forward(const ActivationShape& shape, int64_t part, const float* x, const float* bias,
             float* y) {
  const Dropout& dropout = shape.dropout;
  for (int64_t row = part * kActivationRows; row < end_of_part(shape, part); ++row) {
    const float* from = x + row * shape.columns;
    float* to = y + row * shape.columns;
    const auto value = [&](int64_t c) { return Act::value(load(from + c) + load(bias + c)); };
    const auto some = [&](int64_t c, int64_t count) {
      return Act::value(load(from + c, count) + load(bias + c, count));
    };
    if (dropout.threshold == 0)
      for_columns(
          shape.columns, [&](int64_t c, int64_t) { store(to + c, value(c)); },
          [&](int64_t c, int64_t count) { store(to + c, some(c, count), count); });
    else
      for_columns_with_words(
          dropout.key, row, shape.columns,
          [&](int64_t c, int64_t, WordLanes words) {
            store(to + c, kept(dropout, words, value(c)));
          },
          [&](int64_t c, int64_t count, WordLanes words) {
            store(to + c, kept(dropout, words, some(c, count)), count);
          });
  }
}

/// One row of the backward pass; `share` is what of dy passes the dropout.
template <class Act>
struct BackRow {
  const float *kept, *bias, *dy;
  float *dx, *sums;

  template <class Share>
  void whole(int64_t c, Share share) const {
    Lanes u = load(kept + c);
    if constexpr (Act::kKeepsX) u += load(bias + c);
    const Lanes du = Act::slope(u, share(load(dy + c)));
    store(dx + c, du);
    store(sums + c, load(sums + c) + du);
  }
  template <class Share>
  void some(int64_t c, int64_t count, Share share) const {
    Lanes u = load(kept + c, count);
    if constexpr (Act::kKeepsX) u += load(bias + c, count);
    const Lanes du = Act::slope(u, share(load(dy + c, count)));
    store(dx + c, du, count);
    store(sums + c, load(sums + c, count) + du, count);
  }
};

template <class Act>
void backward(const ActivationShape& shape, int64_t part, const ActivationBackward& at) {
  const int64_t columns = shape.columns;
  const Dropout& dropout = shape.dropout;
  float* sums = at.sums + part * columns;
  __builtin_memset(sums, 0, static_cast<uint64_t>(columns) * sizeof(float));
  for (int64_t r = part * kActivationRows; r < end_of_part(shape, part); ++r) {
    const int64_t begin = r * columns;
    const BackRow<Act> row{at.kept + begin, at.bias, at.dy + begin, at.dx + begin, sums};
    if (!Act::kKeepsX || dropout.threshold == 0) {  // relu's zeros tell what was dropped
      const auto scaled = [&](Lanes dy) { return dy * all(dropout.scale); };
      for_columns(
          columns, [&](int64_t c, int64_t) { row.whole(c, scaled); },
          [&](int64_t c, int64_t count) { row.some(c, count, scaled); });
    } else {
      for_columns_with_words(
          dropout.key, r, columns,
          [&](int64_t c, int64_t, WordLanes words) {
            row.whole(c, [&](Lanes dy) { return kept(dropout, words, dy); });
          },
          [&](int64_t c, int64_t count, WordLanes words) {
            row.some(c, count, [&](Lanes dy) { return kept(dropout, words, dy); });
          });
    }
  }
}

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void activation_forward(const ActivationShape& shape, int64_t part, const float* x,
                        const float* bias, float* y) {
  if (shape.kind == Activation::Relu) return forward<Relu>(shape, part, x, bias, y);
  if (shape.kind == Activation::Tanh) return forward<Tanh>(shape, part, x, bias, y);
  forward<Gelu>(shape, part, x, bias, y);
}

void activation_backward(const ActivationShape& shape, int64_t part, const ActivationBackward& at) {
  if (shape.kind == Activation::Relu) return backward<Relu>(shape, part, at);
  if (shape.kind == Activation::Tanh) return backward<Tanh>(shape, part, at);
  backward<Gelu>(shape, part, at);
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
