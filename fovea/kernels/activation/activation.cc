#include "fovea/kernels/activation/activation.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/dropout/dropout-inl.h"
#include "fovea/kernels/sizes-inl.h"

namespace fovea::kernels {
namespace {

struct Relu {
  static constexpr bool kSavesX = false;
  static Lanes value(Lanes u) { return max(Lanes{}, u); }
  /// From y instead of u; a NaN lets the gradient pass, as if it were above 0.
  static Lanes slope(Lanes y, Lanes dy) { return y <= Lanes{} ? Lanes{} : dy; }
};

/// Phi and phi of the normal distribution. With t = 1 / (1 + 0.26 |u|) the tail is
///   Phi(-|u|) = e^(-u^2/2) t P(t),
/// P of degree 8 fitted to a relative error of 3e-8 for |u| < 14, beyond which the tail is 0.
struct Normal {
  Lanes below, density;

  explicit Normal(Lanes u) {
    const Lanes bell = exp(broadcast(-0.5f) * u * u);
    const Lanes magnitude = u < Lanes{} ? -u : u;
    const Lanes t = broadcast(1.0f) / (broadcast(1.0f) + broadcast(0.26f) * magnitude);
    constexpr float kP[] = {0.0305053105f, -0.152830844f, 0.251495355f, -0.15095349f, 0.160950894f,
                            0.0510264257f, 0.103030566f,  0.103016708f, 0.103759062f};
    Lanes p = broadcast(kP[0]);
#pragma GCC unroll 8
    for (int i = 1; i < 9; ++i) p = p * t + broadcast(kP[i]);
    const Lanes tail = bell * t * p;
    below = u < Lanes{} ? tail : broadcast(1.0f) - tail;
    density = bell * broadcast(0.3989422804f);
  }
};

struct Gelu {
  static constexpr bool kSavesX = true;
  static Lanes value(Lanes u) { return u * Normal(u).below; }
  static Lanes slope(Lanes u, Lanes dy) {
    const Normal normal(u);
    return dy * (normal.below + u * normal.density);
  }
};

struct Tanh {
  static constexpr bool kSavesX = true;
  static Lanes value(Lanes u) { return tanh(u); }
  static Lanes slope(Lanes u, Lanes dy) { return dy * tanh_slope(tanh(u)); }
};

template <class Act>
void forward_rows(const ActivationShape& shape, int64_t slice, const float* x, const float* bias,
                  float* y) {
  const SliceRows rows(slice, kActivationRows, shape.rows);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* from = x + row * shape.columns;
    float* to = y + row * shape.columns;
    for_dropout_columns(shape.dropout, row, shape.columns,
                        [&](int64_t c, int64_t, auto lanes, auto dropped) {
                          const Lanes u = load(from + c, lanes) + load(bias + c, lanes);
                          store(to + c, dropped(Act::value(u)), lanes);
                        });
  }
}

template <class Act>
void backward_rows(const ActivationShape& shape, int64_t slice, const ActivationBackward& at) {
  const int64_t columns = shape.columns;
  float* sums = at.sums + slice * columns;
  fill_row(sums, columns, 0);
  const SliceRows rows(slice, kActivationRows, shape.rows);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float *saved = at.saved + row * columns, *dy = at.dy + row * columns;
    float* dx = at.dx + row * columns;
    const auto add_column = [&](int64_t c, int64_t, auto lanes, auto dropped) {
      Lanes u = load(saved + c, lanes);
      if constexpr (Act::kSavesX) u += load(at.bias + c, lanes);
      const Lanes du = Act::slope(u, dropped(load(dy + c, lanes)));
      store(dx + c, du, lanes);
      store(sums + c, load(sums + c, lanes) + du, lanes);
    };
    if constexpr (Act::kSavesX)
      for_dropout_columns(shape.dropout, row, columns, add_column);
    else  // y is 0 where it was dropped
      for_columns(columns, [&](int64_t c, int64_t slot, auto lanes) {
        add_column(c, slot, lanes, [&](Lanes dy) { return dy * broadcast(shape.dropout.scale); });
      });
  }
}

void forward(const ActivationShape& shape, int64_t slice, const float* x, const float* bias,
             float* y) {
  if (shape.kind == Activation::Relu) return forward_rows<Relu>(shape, slice, x, bias, y);
  if (shape.kind == Activation::Tanh) return forward_rows<Tanh>(shape, slice, x, bias, y);
  forward_rows<Gelu>(shape, slice, x, bias, y);
}

void backward(const ActivationShape& shape, int64_t slice, const ActivationBackward& at) {
  if (shape.kind == Activation::Relu) return backward_rows<Relu>(shape, slice, at);
  if (shape.kind == Activation::Tanh) return backward_rows<Tanh>(shape, slice, at);
  backward_rows<Gelu>(shape, slice, at);
}

}  // namespace

struct ActivationTable {
  decltype(&activation_forward) forward;
  decltype(&activation_backward) backward;
};
FOVEA_TABLE(ActivationTable, forward, backward)

#ifdef FOVEA_ENTRY_POINTS

void activation_forward(const ActivationShape& shape, int64_t slice, const float* x,
                        const float* bias, float* y) {
  table().forward(shape, slice, x, bias, y);
}

void activation_backward(const ActivationShape& shape, int64_t slice,
                         const ActivationBackward& at) {
  table().backward(shape, slice, at);
}

void activation_sums(const ActivationShape& shape, const float* sums, float* dbias) {
  fill_row(dbias, shape.columns, 0);
  for (int64_t slice = 0; slice < shape.slices(); ++slice, sums += shape.columns)
    for (int64_t c = 0; c < shape.columns; ++c) dbias[c] += sums[c];
}

#endif

}  // namespace fovea::kernels
