#include "fovea/kernels/optimiser/optimiser.h"

#include <cmath>
#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::optimiser_test {
namespace {

struct Case {
  std::string name;
  OptimiserSettings settings;
};

std::vector<Case> cases() {
  using Kind = OptimiserKind;
  return {
      {"sgd", {.kind = Kind::Sgd, .learning_rate = 0.1f}},
      {"sgd decay", {.kind = Kind::Sgd, .learning_rate = 0.1f, .weight_decay = 0.05f}},
      {"momentum", {.kind = Kind::Sgd, .learning_rate = 0.05f, .momentum = 0.9f}},
      {"nesterov",
       {.kind = Kind::Sgd,
        .learning_rate = 0.05f,
        .momentum = 0.8f,
        .nesterov = true,
        .weight_decay = 0.01f}},
      {"adam", {.kind = Kind::Adam, .learning_rate = 0.02f}},
      {"adam decay", {.kind = Kind::Adam, .learning_rate = 0.02f, .weight_decay = 0.1f}},
      {"adam betas", {.kind = Kind::Adam, .beta1 = 0.5f, .beta2 = 0.9f, .epsilon = 1e-3f}},
      {"adamw", {.kind = Kind::AdamW, .learning_rate = 0.02f, .weight_decay = 0.1f}},
      {"rmsprop", {.kind = Kind::RmsProp, .learning_rate = 0.01f}},
      {"rmsprop momentum",
       {.kind = Kind::RmsProp,
        .learning_rate = 0.01f,
        .momentum = 0.7f,
        .rho = 0.9f,
        .weight_decay = 0.05f}},
      {"adadelta", {.kind = Kind::Adadelta, .learning_rate = 1.0f, .rho = 0.9f, .epsilon = 1e-6f}},
      {"adadelta decay",
       {.kind = Kind::Adadelta,
        .learning_rate = 0.5f,
        .rho = 0.95f,
        .epsilon = 1e-6f,
        .weight_decay = 0.05f}},
  };
}

/// One number's optimiser in double precision, written from the formulas of the header.
struct Scalar {
  double p = 0, first = 0, second = 0;

  void step(const OptimiserSettings& s, int64_t t, double g) {
    const double rate = s.learning_rate, decay = s.weight_decay, mu = s.momentum, rho = s.rho;
    if (s.kind == OptimiserKind::AdamW) {
      p *= 1 - rate * decay;
    } else {
      g += decay * p;
    }
    switch (s.kind) {
      case OptimiserKind::Sgd:
        first = mu * first + g;
        p -= rate * (s.nesterov ? g + mu * first : first);
        break;
      case OptimiserKind::Adam:
      case OptimiserKind::AdamW: {
        const double b1 = s.beta1, b2 = s.beta2;
        first = b1 * first + (1 - b1) * g;
        second = b2 * second + (1 - b2) * g * g;
        const double corrected = second / (1 - std::pow(b2, double(t)));
        p -= rate * first / (1 - std::pow(b1, double(t))) / (std::sqrt(corrected) + s.epsilon);
        break;
      }
      case OptimiserKind::RmsProp:
        second = rho * second + (1 - rho) * g * g;
        first = mu * first + g / (std::sqrt(second) + s.epsilon);
        p -= rate * first;
        break;
      case OptimiserKind::Adadelta: {
        second = rho * second + (1 - rho) * g * g;
        const double delta = g * std::sqrt(first + s.epsilon) / std::sqrt(second + s.epsilon);
        first = rho * first + (1 - rho) * delta * delta;
        p -= rate * delta;
        break;
      }
    }
  }
};

constexpr int64_t kSteps = 20;

/// Parameters and state, each followed by a number that nobody may touch.
struct Descent {
  std::vector<float> parameters, first, second;

  Descent(const OptimiserSettings& settings, int64_t count) {
    Numbers numbers(static_cast<uint32_t>(count));
    parameters = numbers.floats(count);
    first.assign(parameters.size(), 0.0f);
    second = first;
    for (auto* array : {&parameters, &first, &second}) array->push_back(kCanary);
    for (int64_t step = 1; step <= kSteps; ++step) {
      const std::vector<float> gradient = numbers.floats(count);
      optimiser_step(settings, step, parameters.data(), gradient.data(), first.data(),
                     second.data(), count);
    }
    expect_canary({&parameters, &first, &second});
  }
};

std::vector<Scalar> reference(const OptimiserSettings& settings, int64_t count) {
  Numbers numbers(static_cast<uint32_t>(count));
  std::vector<Scalar> scalars;
  for (const float p : numbers.floats(count)) scalars.push_back({double(p), 0, 0});
  for (int64_t step = 1; step <= kSteps; ++step) {
    const std::vector<float> gradient = numbers.floats(count);
    for (size_t i = 0; i < scalars.size(); ++i) scalars[i].step(settings, step, gradient[i]);
  }
  return scalars;
}

TEST(Optimiser, FollowsTheFormulasOnEveryInstructionSet) {
  for (const Case& c : cases())
    for (const int64_t count : {1, 7, 16, 33, 121}) {
      std::vector<double> p, first, second;
      for (const Scalar& scalar : reference(c.settings, count)) {
        p.push_back(scalar.p);
        first.push_back(scalar.first);
        second.push_back(scalar.second);
      }
      for (const InstructionSet set : available_sets()) {
        SCOPED_TRACE(c.name + ", " + std::to_string(count) + " numbers, " + name_of(set));
        const UseSet use(set);
        const Descent descent(c.settings, count);
        EXPECT_LT(worst_difference(descent.parameters, p), 2e-6);
        EXPECT_LT(worst_difference(descent.first, first), 2e-6);
        EXPECT_LT(worst_difference(descent.second, second), 2e-6);
      }
    }
}

TEST(Optimiser, InstructionSetsAgree) {
  for (const Case& c : cases()) {
    std::vector<float> baseline;
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      const Descent descent(c.settings, 121);
      if (set == InstructionSet::Baseline) baseline = descent.parameters;
      EXPECT_LT(worst_difference(descent.parameters, baseline), 1e-6) << c.name << name_of(set);
      EXPECT_EQ(descent.parameters, Descent(c.settings, 121).parameters)
          << "not the same bits twice";
    }
  }
}

TEST(Optimiser, NumberIsUpdatedAlikeWhereverItLies) {
  // The last numbers of an array go another way than whole vectors.
  for (const Case& c : cases())
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      std::vector<float> p(33, 0.5f), g(33, -0.25f), first(33, 0.0f), second(33, 0.0f);
      for (int64_t step = 1; step <= 3; ++step)
        optimiser_step(c.settings, step, p.data(), g.data(), first.data(), second.data(), 33);
      EXPECT_EQ(p, std::vector<float>(33, p[0])) << c.name << name_of(set);
      EXPECT_NE(p[0], 0.5f);
    }
}

TEST(Optimiser, ZeroGradientMovesNothingAndMakesNoNan) {
  for (Case c : cases())
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      c.settings.weight_decay = 0;
      std::vector<float> p{1, -2, 3}, g(3, 0.0f), first(3, 0.0f), second(3, 0.0f);
      optimiser_step(c.settings, 1, p.data(), g.data(), first.data(), second.data(), 3);
      EXPECT_EQ(p, (std::vector<float>{1, -2, 3})) << c.name << name_of(set);
    }
}

TEST(Optimiser, LateStepsAndNoNumbersAreFine) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const OptimiserSettings settings{.kind = OptimiserKind::Adam, .learning_rate = 0.5f};
    float p = 1, g = 2, first = 2, second = 4;
    optimiser_step(settings, 100'000'000, &p, &g, &first, &second, 1);
    EXPECT_NEAR(p, 0.5f, 1e-6);
    optimiser_step(settings, 1, nullptr, nullptr, nullptr, nullptr, 0);
  }
}

TEST(SquaredNorm, IsExactForSmallWholeNumbersAndTheSameOnEverySet) {
  for (const int64_t count : {0, 1, 7, 8, 9, 121}) {
    std::vector<float> values;
    double expected = 0;
    for (int64_t i = 1; i <= count; ++i) {
      values.push_back(static_cast<float>(i % 2 ? i : -i));
      expected += double(i * i);
    }
    EXPECT_EQ(squared_norm(values.data(), count), expected) << count;
  }
  const std::vector<float> values = Numbers(3).floats(1003);
  double plain = 0;
  for (const float value : values) plain += double(value) * value;
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    EXPECT_NEAR(squared_norm(values.data(), 1003), plain, 1e-11 * plain);
  }
  const float huge[2] = {3e38f, 3e38f};
  EXPECT_TRUE(std::isfinite(squared_norm(huge, 2)));
}

TEST(ClipGradient, CutsNumbersFirstAndThenTheNorm) {
  std::vector<float> gradient{3, -4, 0.5f, 0};
  clip_gradient(0, 0, gradient.data(), 4);
  EXPECT_EQ(gradient, (std::vector<float>{3, -4, 0.5f, 0}));
  clip_gradient(0, 100, gradient.data(), 4);
  EXPECT_EQ(gradient, (std::vector<float>{3, -4, 0.5f, 0}));
  clip_gradient(2, 0, gradient.data(), 4);
  EXPECT_EQ(gradient, (std::vector<float>{2, -2, 0.5f, 0}));
  gradient = {3, -4, 0, 0};
  clip_gradient(0, 2.5, gradient.data(), 4);
  EXPECT_EQ(gradient, (std::vector<float>{1.5f, -2, 0, 0}));
  gradient = {30, -40, 0, 0};
  clip_gradient(1, 0.5, gradient.data(), 4);
  EXPECT_NEAR(gradient[0], std::sqrt(0.125), 1e-7);
  gradient = {NAN, 1, 1, 1};
  clip_gradient(2, 0, gradient.data(), 4);
  EXPECT_TRUE(std::isnan(gradient[0]));
}

}  // namespace
}  // namespace fovea::kernels::optimiser_test
