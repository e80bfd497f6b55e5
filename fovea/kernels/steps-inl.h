// Short rows of numbers, for kernels whose rows may be narrower than a vector of the instruction
// set: a row is walked in steps of 1, 4, 8 or 16 floats, as many as fit, and what is left over one
// by one.
#pragma once

#include "fovea/kernels/columns-inl.h"

namespace {

template <int64_t kStep>
struct StepOf {
  typedef float Vector __attribute__((vector_size(4 * kStep)));
};
template <>
struct StepOf<1> {
  typedef float Vector;
};
template <int64_t kStep>
using Step = typename StepOf<kStep>::Vector;

template <int64_t kStep>
inline Step<kStep> load_step(const float* from) {
  Step<kStep> step;
  __builtin_memcpy(&step, from, sizeof step);
  return step;
}

/// Calls whole(i) for every whole step of 0 … count - 1, and single(i) for what is left.
template <int64_t kStep, class Whole, class Single>
inline void for_steps(int64_t count, Whole whole, Single single) {
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) whole(i);
  if constexpr (kStep > 1)
    for (; i < count; ++i) single(i);
}

template <int64_t kStep>
inline void store_step(float* to, Step<kStep> step) {
  __builtin_memcpy(to, &step, sizeof step);
}

/// to[i] = work(from[i], …) with every argument a row of `count` numbers.
template <int64_t kStep, class Work, class... Rows>
inline void for_row(int64_t count, float* to, Work work, const Rows*... from) {
  for_steps<kStep>(
      count, [&](int64_t i) { store_step<kStep>(to + i, work(load_step<kStep>(from + i)...)); },
      [&](int64_t i) { to[i] = work(from[i]...); });
}

inline float sum_of(float value) {
  return value;
}
template <class Vector>
inline float sum_of(Vector step) {
  constexpr int64_t kCount = sizeof(Vector) / sizeof(float);
  Step<kCount / 2> halves[2];
  __builtin_memcpy(halves, &step, sizeof step);
  return sum_of(halves[0] + halves[1]);
}

/// The sum of work(a[i], …) over a row.
template <int64_t kStep, class Work, class... Rows>
inline float sum_row(int64_t count, Work work, const Rows*... from) {
  Step<kStep> total{};
  float rest = 0;
  for_steps<kStep>(
      count, [&](int64_t i) { total += work(load_step<kStep>(from + i)...); },
      [&](int64_t i) { rest += work(from[i]...); });
  return sum_of(total) + rest;
}

inline void fill_row(float* to, int64_t count, float value) {
  for (int64_t i = 0; i < count; ++i) to[i] = value;
}

/// The longest step that a row of `count` numbers fills, up to a vector of the instruction set.
inline int64_t step_for(int64_t count) {
  int64_t step = 1;
  for (int64_t longer = 4; longer <= kLanes && longer <= count; longer *= 2) step = longer;
  return step;
}

}  // namespace
