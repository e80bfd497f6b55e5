// A problem of a kernel: struct Problem<T> with leaves(), lists of numbers that a loss depends on.
// The kernel computes in float, the formulas are followed in double.
#pragma once

#include "fovea/kernels/recurrent/recurrent.h"
#include "tests/kernels/testing.h"

namespace fovea::kernels {

/// The leaves of `from` as those of `to`.
template <class From, class To>
void copy_leaves(From from, To& to) {
  const auto read = from.leaves();
  const auto write = to.leaves();
  for (size_t i = 0; i < read.size(); ++i) write[i]->assign(read[i]->begin(), read[i]->end());
}

/// |slope - <gradient, direction>| of `loss(problem)` along a random direction of all leaves,
/// relative to the size of what is summed.
template <class InDouble, class Gradients, class Loss>
double slope_error(const InDouble& problem, Gradients gradients, uint32_t seed, const Loss& loss) {
  constexpr double kDifference = 1e-5;
  Numbers numbers(seed);
  InDouble above = problem, below = problem;
  const auto up = above.leaves(), down = below.leaves();
  const auto gradient = gradients.leaves();
  double expected = 0, size = 1;
  for (size_t leaf = 0; leaf < up.size(); ++leaf) {
    EXPECT_EQ(up[leaf]->size(), gradient[leaf]->size()) << leaf;
    for (size_t i = 0; i < up[leaf]->size(); ++i) {
      const double direction = numbers.next(), slope = double((*gradient[leaf])[i]) * direction;
      (*up[leaf])[i] += kDifference * direction, (*down[leaf])[i] -= kDifference * direction;
      expected += slope, size += slope * slope;
    }
  }
  const double error =
      std::abs((loss(above) - loss(below)) / (2 * kDifference) - expected) / std::sqrt(size);
  return std::isnan(error) ? INFINITY : error;
}

template <class Problem>
void expect_equal_leaves(Problem one, Problem other) {
  const auto left = one.leaves(), right = other.leaves();
  for (size_t i = 0; i < left.size(); ++i) EXPECT_EQ(*left[i], *right[i]) << i;
}

/// One step of the formulas of recurrent.h: x = W x + b and u = U h + b for all gates, [G H]; the
/// states of H units are replaced.
inline void recurrent_step(RecurrentCell kind, const std::vector<double>& x,
                           const std::vector<double>& u, double* hidden, double* cell, size_t h) {
  const auto sigma = [](double value) { return 1 / (1 + std::exp(-value)); };
  for (size_t i = 0; i < h; ++i) {
    const auto sum = [&](size_t gate) { return x[gate * h + i] + u[gate * h + i]; };
    if (kind == RecurrentCell::Rnn) {
      hidden[i] = std::tanh(sum(0));
    } else if (kind == RecurrentCell::Gru) {
      const double n = std::tanh(x[2 * h + i] + sigma(sum(0)) * u[2 * h + i]);
      hidden[i] = (1 - sigma(sum(1))) * n + sigma(sum(1)) * hidden[i];
    } else {
      cell[i] = sigma(sum(1)) * cell[i] + sigma(sum(0)) * std::tanh(sum(2));
      hidden[i] = sigma(sum(3)) * std::tanh(cell[i]);
    }
  }
}

}  // namespace fovea::kernels
