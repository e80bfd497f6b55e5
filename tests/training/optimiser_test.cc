#include "fovea/training/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect_error.h"
#include "tests/support/golden.h"

namespace fovea::optimiser_test {
namespace {

using namespace testing;

/// One parameter p, objective sum(scale p^2) + sum(sin p).
class Bowl : public Model {
 public:
  Bowl(const at::Tensor& start, const at::Tensor& scale) : scale_(scale) {
    p_ = register_parameter("p", start.clone());
  }
  void initialise(const Random&) override {}
  Schema schema() const override { return {}; }
  std::vector<LayerSummary> summary() const override { return {}; }
  Loss loss(const Batch&, const StepContext&) override {
    return {(scale_ * p_ * p_).sum() + torch::sin(p_).sum(), {}};
  }
  Predictions predict(const Batch&) const override { return {}; }
  at::Tensor replay(const Batch&, const Predictions&, Tap*) const override { return {}; }
  at::Tensor p_, scale_;
};

TrainingOptions options_named(const std::string& name) {
  TrainingOptions options;
  options.optimiser = name == "nesterov" ? "sgd" : name;
  options.learning_rate = name == "rmsprop" ? 0.02 : name == "adadelta" ? 1.0 : 0.05;
  if (name == "sgd") options.momentum = 0.9, options.weight_decay = 0.01;
  if (name == "nesterov") options.momentum = 0.9, options.nesterov = true;
  if (name == "adam")
    options.beta1 = 0.8, options.beta2 = 0.95, options.epsilon = 1e-7, options.weight_decay = 0.02;
  if (name == "adamw") options.weight_decay = 0.1;
  if (name == "rmsprop") options.rho = 0.95, options.momentum = 0.5, options.epsilon = 1e-6;
  if (name == "adadelta") options.rho = 0.95, options.epsilon = 1e-6;
  return options;
}

class GoldenPath : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenPath, IsPyTorchs) {
  const Json reference = golden("training")["optimisers"];
  Bowl model(tensor_of(reference["start"]), tensor_of(reference["scale"]));
  Optimiser optimiser(model, options_named(GetParam()), 1);
  for (const Json& expected : reference["paths"][GetParam()]) {
    optimiser.zero_gradient();
    model.loss({}, {Random(0), 0}).objective.backward();
    optimiser.step();
    EXPECT_LT(largest_difference(model.p_, tensor_of(expected)), 2e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenPath,
                         ::testing::Values("sgd", "nesterov", "adam", "adamw", "rmsprop",
                                           "adadelta"),
                         [](const auto& info) { return info.param; });

TEST(Optimiser, ClipsByNormAndByValue) {
  Bowl model(torch::full({4}, 3.0f), torch::full({4}, 10.0f));
  TrainingOptions options;
  options.optimiser = "sgd";
  options.learning_rate = 1;
  options.clip_norm = 0.5;
  Optimiser by_norm(model, options, 1);
  by_norm.zero_gradient();
  model.loss({}, {Random(0), 0}).objective.backward();
  const at::Tensor before = model.p_.detach().clone();
  by_norm.step();
  EXPECT_NEAR((before - model.p_.detach()).norm().item<double>(), 0.5, 1e-5);

  Bowl other(torch::full({4}, 3.0f), torch::full({4}, 10.0f));
  options.clip_norm = 0;
  options.clip_value = 0.25;
  Optimiser by_value(other, options, 1);
  by_value.zero_gradient();
  other.loss({}, {Random(0), 0}).objective.backward();
  by_value.step();
  EXPECT_LT(largest_difference(other.p_, torch::full({4}, 2.75f)), 1e-6);
}

TEST(Optimiser, GradientsLandInTheFlatArray) {
  Bowl model(torch::ones({4}), torch::ones({4}));
  Optimiser optimiser(model, {}, 1);
  optimiser.zero_gradient();
  model.loss({}, {Random(0), 0}).objective.backward();
  EXPECT_NEAR(optimiser.gradient()[2], 2 + std::cos(1.0), 1e-5);
  EXPECT_EQ(model.p_.data_ptr<float>(), optimiser.parameters());
}

TEST(Optimiser, RefusesAStateOfAnotherSize) {
  Bowl model(torch::ones({4}), torch::ones({4}));
  Optimiser optimiser(model, {}, 1);
  testing::expect_error(ErrorKind::BadData, "5 numbers",
                        [&] { optimiser.restore(1, torch::zeros({5}), torch::zeros({5})); });
}

TEST(Powers, AreThoseOfTheLibraryWhateverTheOrder) {
  for (const double base : {0.0, 0.5, 0.9, 0.999}) {
    Powers powers(base), again(base);
    for (int64_t t = 1; t < 1000; ++t) {
      const double exact = std::pow(base, double(t));
      EXPECT_NEAR(powers(t), exact, 1e-15 * exact) << base << "^" << t;
    }
    EXPECT_EQ(again(777), powers(777));  // as after a resume
    EXPECT_EQ(again(3), powers(3));
  }
}

TEST(NextSteps, AreTheStepsOneByOne) {
  for (const char* schedule : {"constant", "cosine", "step", "noam"}) {
    TrainingOptions options = options_named("adam");
    options.schedule = schedule;
    options.warmup_steps = 5;
    const at::Tensor start = torch::ones({3});
    Bowl together(start, start), apart(start, start);
    Optimiser ahead(together, options, 4), by_step(apart, options, 4);
    const kernels::OptimiserSteps steps = ahead.next_steps(9);
    EXPECT_EQ(steps.count, 3);
    for (int64_t i = 0; i < 9; ++i) {
      const kernels::StepFactors& factors = steps.factors[i];
      by_step.step();
      EXPECT_FLOAT_EQ(factors.learning_rate, float(by_step.last_rate())) << schedule;
      EXPECT_FLOAT_EQ(factors.rate,
                      float(by_step.last_rate() / (1 - std::pow(options.beta1, double(i + 1)))));
    }
    EXPECT_EQ(ahead.steps(), by_step.steps());
    EXPECT_EQ(ahead.last_rate(), by_step.last_rate());
  }
}

}  // namespace
}  // namespace fovea::optimiser_test
