#include "fovea/kernels/cross_entropy/cross_entropy.h"

#include <limits>
#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::cross_entropy_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Problem {
  CrossEntropyShape shape;
  std::vector<float> logits, shares;
  std::vector<int64_t> targets;

  Problem(int64_t rows, int64_t classes, double smoothing, float spread = 6)
      : shape{rows, classes, smoothing} {
    Numbers numbers(static_cast<uint32_t>(rows * 100 + classes));
    logits = numbers.floats(rows * classes);
    for (float& x : logits) x *= spread;
    for (int64_t row = 0; row < rows; ++row) {
      targets.push_back(numbers.below(classes));
      shares.push_back(row % 5 == 3 ? 0.0f : 0.5f + numbers.next() / 4);
    }
    for (int64_t row = 3; row < rows; row += 5) targets[size_t(row)] = -100;  // nobody looks at it
  }

  float* row(int64_t index) { return logits.data() + index * shape.classes; }
};

struct Result {
  double loss = 0;
  std::vector<double> gradient;
};

Result computed(const Problem& problem, bool in_place = false) {
  std::vector<float> logits = problem.logits, gradient(logits.size() + 1, 12345.0f);
  const CrossEntropyRows at{logits.data(), problem.targets.data(), problem.shares.data(),
                            in_place ? logits.data() : gradient.data()};
  Result result;
  for (int64_t slice = problem.shape.slices(); slice-- > 0;)
    result.loss += cross_entropy(problem.shape, slice, at);
  EXPECT_EQ(gradient.back(), 12345.0f) << "written past the end";
  gradient.pop_back();
  const std::vector<float>& written = in_place ? logits : gradient;
  result.gradient.assign(written.begin(), written.end());
  return result;
}

double loss_alone(const Problem& problem) {
  double loss = 0;
  for (int64_t slice = 0; slice < problem.shape.slices(); ++slice)
    loss += cross_entropy(
        problem.shape, slice,
        {problem.logits.data(), problem.targets.data(), problem.shares.data(), nullptr});
  return loss;
}

/// In double precision, from the first formulas of the header: -sum q log p.
Result reference(const Problem& problem) {
  const size_t classes = size_t(problem.shape.classes);
  Result result{0, std::vector<double>(problem.logits.size(), 0)};
  for (size_t row = 0; row < problem.targets.size(); ++row) {
    const double share = problem.shares[row];
    if (share == 0) continue;
    const float* x = problem.logits.data() + row * classes;
    const double largest = *std::max_element(x, x + classes);
    double sum = 0;
    for (size_t c = 0; c < classes; ++c) sum += std::exp(x[c] - largest);
    for (size_t c = 0; c < classes; ++c) {
      const double log_p = x[c] - largest - std::log(sum);
      const double q = problem.shape.smoothing / double(classes) +
                       (int64_t(c) == problem.targets[row] ? 1 - problem.shape.smoothing : 0);
      if (q > 0) result.loss -= share * q * log_p;
      result.gradient[row * classes + c] = share * (std::exp(log_p) - q);
    }
  }
  return result;
}

TEST(CrossEntropy, FollowsTheFormulasOnEveryInstructionSet) {
  for (const int64_t rows : {0, 1, 7, 8, 9, 20})
    for (const int64_t classes : {1, 2, 3, 15, 16, 17, 67, 1000})
      for (const double smoothing : {0.0, 0.1}) {
        const Problem problem(rows, classes, smoothing);
        const Result expected = reference(problem);
        for (const InstructionSet set : available_sets()) {
          SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(classes) + ", smoothing " +
                       std::to_string(smoothing) + ", " + name_of(set));
          const UseSet use(set);
          const Result result = computed(problem);
          EXPECT_NEAR(result.loss, expected.loss, 1e-6 * std::max(1.0, expected.loss));
          EXPECT_LT(worst_difference(result.gradient, expected.gradient), 3e-7);
          EXPECT_EQ(computed(problem, /*in_place=*/true).gradient, result.gradient);
          EXPECT_NEAR(loss_alone(problem), result.loss, 1e-12 * std::max(1.0, expected.loss));
        }
      }
}

TEST(CrossEntropy, LargeLogitsNeitherOverflowNorVanish) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const Problem problem(6, 50, 0.1, 3e4f);
    const Result result = computed(problem), expected = reference(problem);
    EXPECT_NEAR(result.loss / expected.loss, 1, 1e-6);
    EXPECT_LT(worst_difference(result.gradient, expected.gradient), 3e-7);
  }
}

TEST(CrossEntropy, GradientIsTheSlopeOfTheLoss) {
  const Problem problem(4, 37, 0.2);
  const Result result = computed(problem);
  for (const size_t place : {size_t{0}, size_t{30}, size_t{40}, size_t{36 + 37}, size_t{3 * 37}}) {
    Problem above = problem, below = problem;
    above.logits[place] += 0.01f, below.logits[place] -= 0.01f;
    const double step = double(above.logits[place]) - below.logits[place];
    EXPECT_NEAR(result.gradient[place], (loss_alone(above) - loss_alone(below)) / step, 2e-5);
  }
}

TEST(CrossEntropy, ARowWithoutShareIsNotLookedAt) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    Problem problem(5, 33, 0.1);
    const Result before = computed(problem);
    std::fill_n(problem.row(3), 33, float(NAN));
    const Result after = computed(problem);
    EXPECT_EQ(after.loss, before.loss);
    EXPECT_EQ(after.gradient, before.gradient);
  }
}

TEST(CrossEntropy, NotFiniteLogitsShow) {
  for (const InstructionSet set : available_sets())
    for (const int64_t place : {0, 5, 32, 33}) {
      const UseSet use(set);
      for (const float bad : {float(NAN), kInfinity}) {
        Problem problem(2, 34, 0);
        problem.row(1)[place] = bad;
        EXPECT_TRUE(std::isnan(loss_alone(problem))) << bad << " at " << place;
      }
      Problem problem(1, 34, 0);  // a class that is ruled out
      problem.targets[0] = (place + 1) % 34;
      problem.row(0)[place] = -kInfinity;
      EXPECT_NEAR(loss_alone(problem), reference(problem).loss, 1e-6);
      EXPECT_EQ(computed(problem).gradient[size_t(place)], 0);
    }
}

}  // namespace
}  // namespace fovea::kernels::cross_entropy_test
