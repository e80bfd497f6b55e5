// One step of each cell on vectors of units: the formulas of recurrent.h and their derivatives.
#pragma once

#include "fovea/kernels/sigmoids-inl.h"

namespace {

/// h and c of some units, or their gradients.
struct Units {
  Lanes hidden, cell;
};

// Each cell has
//   forward()   x: W x + b and u: U h + b' of every gate; `state` goes from one step to the next;
//               `kept`: what backward() wants to know
//   backward()  `gradient` goes back by one step, except for what passes through U; `d`: the
//               gradients of x, and of u where they differ
//   kOrder      `d` as products want them side by side: the first kGates go back through W, the
//               last kGates, in the order of the gates, through U
struct Rnn {
  static constexpr int64_t kGates = 1, kKept = 1, kOrder[] = {0};
  static constexpr bool kHasCell = false;

  static void forward(const Lanes (&x)[1], const Lanes (&u)[1], Units& state, Lanes (&kept)[1]) {
    kept[0] = state.hidden = hyperbolic_tangent(x[0] + u[0]);
  }

  static void backward(const Lanes (&kept)[1], const Units&, Units& gradient, Lanes (&d)[1]) {
    d[0] = gradient.hidden * tangent_slope(kept[0]);
    gradient.hidden = Lanes{};
  }
};

struct Gru {
  static constexpr int64_t kGates = 3, kKept = 4, kOrder[] = {2, 0, 1, 3};
  static constexpr bool kHasCell = false;

  static void forward(const Lanes (&x)[3], const Lanes (&u)[3], Units& state, Lanes (&kept)[4]) {
    const Lanes r = sigmoid(x[0] + u[0]), z = sigmoid(x[1] + u[1]), q = u[2];
    const Lanes n = hyperbolic_tangent(x[2] + r * q);
    state.hidden = n + z * (state.hidden - n);
    kept[0] = r, kept[1] = z, kept[2] = n, kept[3] = q;
  }

  static void backward(const Lanes (&kept)[4], const Units& before, Units& gradient,
                       Lanes (&d)[4]) {
    const Lanes r = kept[0], z = kept[1], n = kept[2], q = kept[3], dh = gradient.hidden;
    const Lanes dn = dh * (all(1.0f) - z) * tangent_slope(n);
    d[0] = dn * q * sigmoid_slope(r);
    d[1] = dh * (before.hidden - n) * sigmoid_slope(z);
    d[2] = dn;
    d[3] = dn * r;
    gradient.hidden = dh * z;
  }
};

struct Lstm {
  static constexpr int64_t kGates = 4, kKept = 4, kOrder[] = {0, 1, 2, 3};
  static constexpr bool kHasCell = true;

  static void forward(const Lanes (&x)[4], const Lanes (&u)[4], Units& state, Lanes (&kept)[4]) {
    const Lanes i = sigmoid(x[0] + u[0]), f = sigmoid(x[1] + u[1]), o = sigmoid(x[3] + u[3]);
    const Lanes g = hyperbolic_tangent(x[2] + u[2]);
    state.cell = f * state.cell + i * g;
    state.hidden = o * hyperbolic_tangent(state.cell);
    kept[0] = i, kept[1] = f, kept[2] = g, kept[3] = o;
  }

  static void backward(const Lanes (&kept)[4], const Units& before, Units& gradient,
                       Lanes (&d)[4]) {
    const Lanes i = kept[0], f = kept[1], g = kept[2], o = kept[3], dh = gradient.hidden;
    const Lanes t = hyperbolic_tangent(f * before.cell + i * g);
    const Lanes dc = gradient.cell + dh * o * tangent_slope(t);
    d[0] = dc * g * sigmoid_slope(i);
    d[1] = dc * before.cell * sigmoid_slope(f);
    d[2] = dc * i * tangent_slope(g);
    d[3] = dh * t * sigmoid_slope(o);
    gradient.hidden = Lanes{};
    gradient.cell = dc * f;
  }
};

}  // namespace
