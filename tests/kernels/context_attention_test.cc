#include "fovea/kernels/context_attention/context_attention.h"

#include <cmath>
#include <string>

#include "tests/kernels/testing.h"
#include "tests/kernels/train_steps.h"

namespace fovea::kernels::context_attention_test {
namespace {

/// Data and parameters with some rows that no batch picks.
struct Problem {
  ContextShape shape;
  Numbers numbers{11};
  std::vector<float> inputs = numbers.floats(8 * shape.positions);
  std::vector<float> targets = numbers.floats(8);
  std::vector<int64_t> contexts{0, 2, 1, 2, 0, 2, 1, 0};
  std::vector<float> parameters = numbers.floats(shape.parameters());

  explicit Problem(int64_t positions = 4) : shape{3, positions} {}

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

constexpr int64_t kPositions[] = {1, 3, 4, 5, 8, 10, 16, 21};

TEST(ContextAttention, LossAndGradientFollowTheFormulaOnEveryInstructionSet) {
  for (const int64_t positions : kPositions)
    for (const auto& picked : {std::vector<int64_t>{5}, std::vector<int64_t>{3, 0, 6, 3, 1}}) {
      const Problem problem(positions);
      std::vector<double> theta(problem.parameters.begin(), problem.parameters.end());
      const double exact = problem.loss(theta, picked);
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
      for (const InstructionSet set : available_sets()) {
        SCOPED_TRACE(std::to_string(positions) + " positions, " + name_of(set));
        const UseSet use(set);
        std::vector<float> gradient(problem.parameters.size(), 99.0f);  // must be overwritten
        const double sum = context_gradient(problem.shape, problem.parameters.data(),
                                            problem.rows(picked), gradient.data());
        EXPECT_NEAR(sum, exact, 1e-6 * (1 + exact));
        EXPECT_LT(worst_difference(gradient, slopes), 1e-6);
      }
    }
}

TEST(ContextAttention, TrainingIsGradientAndStepByTurns) {
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < 50; ++i) picked.push_back(i * i % 7);
  for (const int64_t positions : kPositions)
    for (const int64_t batch_size : {1, 3, 50, 64})
      for (const OptimiserSettings& settings : all_optimisers())
        for (const bool clips : {false, true})
          for (const InstructionSet set : available_sets()) {
            SCOPED_TRACE(std::to_string(positions) + " positions, batch " +
                         std::to_string(batch_size) + ", " + name_of(set));
            const UseSet use(set);
            const Problem problem(positions);
            Course whole(settings, problem.parameters), turns(settings, problem.parameters);
            if (clips) whole.clip_value = turns.clip_value = 0.2;
            if (clips) whole.clip_norm = turns.clip_norm = 0.3;
            const double sum = context_train(problem.shape, problem.rows(picked), batch_size,
                                             whole.next((50 + batch_size - 1) / batch_size));
            double expected = 0;
            for (size_t begin = 0; begin < picked.size(); begin += size_t(batch_size)) {
              const size_t end = std::min(begin + size_t(batch_size), picked.size());
              const std::vector<int64_t> batch(picked.begin() + int64_t(begin),
                                               picked.begin() + int64_t(end));
              expected += context_gradient(problem.shape, turns.parameters.data(),
                                           problem.rows(batch), turns.gradient.data());
              turns.step();
            }
            // The two may round single numbers in other ways: a compiler joins products and sums as
            // it likes.
            EXPECT_NEAR(sum, expected, 1e-5 * expected);
            EXPECT_LT(worst_difference(whole.parameters, turns.parameters), 1e-5);
            EXPECT_LT(worst_difference(whole.gradient, turns.gradient), 1e-5);
            EXPECT_NE(whole.parameters, problem.parameters);
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
}  // namespace fovea::kernels::context_attention_test
