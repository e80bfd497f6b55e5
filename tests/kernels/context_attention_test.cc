#include "fovea/kernels/context_attention.h"

#include <cmath>

#include "tests/kernels/testing.h"

namespace fovea::kernels {
namespace {

/// Data and parameters with some rows that no batch picks.
struct Problem {
  ContextShape shape{3, 4};
  Numbers numbers{11};
  std::vector<float> inputs = numbers.floats(8 * shape.positions);
  std::vector<float> targets = numbers.floats(8);
  std::vector<int64_t> contexts{0, 2, 1, 2, 0, 2, 1, 0};
  std::vector<float> parameters = numbers.floats(shape.parameters());

  ContextRows rows(const std::vector<int64_t>& picked) const {
    return {inputs.data(), contexts.data(), targets.data(), picked.data(),
            static_cast<int64_t>(picked.size())};
  }

  /// Sum of the squared errors, from the formula of the header.
  double loss(const std::vector<double>& theta, const std::vector<int64_t>& picked) const {
    const auto P = static_cast<size_t>(shape.positions);
    const size_t w = static_cast<size_t>(shape.contexts) * P;
    double total = 0;
    for (const int64_t row : picked) {
      double y = theta[w + P];
      const auto at = static_cast<size_t>(row), context = static_cast<size_t>(contexts[at]);
      for (size_t p = 0; p < P; ++p)
        y += theta[w + p] * inputs[at * P + p] * theta[context * P + p];
      total += (y - targets[at]) * (y - targets[at]);
    }
    return total;
  }
};

TEST(ContextAttention, CountsItsParameters) {
  EXPECT_EQ((ContextShape{3, 4}.parameters()), 3 * 4 + 4 + 1);
  EXPECT_EQ((ContextShape{1, 1}.parameters()), 3);
}

TEST(ContextAttention, LossAndGradientFollowTheFormula) {
  const Problem problem;
  for (const auto& picked : {std::vector<int64_t>{5}, std::vector<int64_t>{3, 0, 6, 3, 1}}) {
    std::vector<float> gradient(problem.parameters.size(), 99.0f);  // must be overwritten
    const double sum = context_gradient(problem.shape, problem.parameters.data(),
                                        problem.rows(picked), gradient.data());
    std::vector<double> theta(problem.parameters.begin(), problem.parameters.end());
    EXPECT_NEAR(sum, problem.loss(theta, picked), 1e-6);
    std::vector<double> slopes;
    for (double& parameter : theta) {
      const double before = parameter, step = 1e-5;
      parameter = before + step;
      const double above = problem.loss(theta, picked);
      parameter = before - step;
      const double below = problem.loss(theta, picked);
      parameter = before;
      slopes.push_back((above - below) / (2 * step) / double(picked.size()));
    }
    EXPECT_LT(worst_difference(gradient, slopes), 1e-6);
  }
}

TEST(ContextAttention, ContextsThatDoNotOccurGetNoGradient) {
  const Problem problem;
  const std::vector<int64_t> picked{1, 3, 5};  // all of context 2
  std::vector<float> gradient(problem.parameters.size(), 99.0f);
  context_gradient(problem.shape, problem.parameters.data(), problem.rows(picked), gradient.data());
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(gradient[i], 0.0f) << i;
  EXPECT_NE(gradient[8], 0.0f);
}

}  // namespace
}  // namespace fovea::kernels
