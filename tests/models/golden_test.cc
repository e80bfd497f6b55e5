// The first two models against PyTorch: outputs, loss, and every gradient, through autograd and
// through the kernels.
#include <gtest/gtest.h>

#include "fovea/models/context_attention.h"
#include "fovea/models/feature_attention.h"
#include "tests/support/golden.h"

namespace fovea::golden_test {
namespace {

using kernels::TabularLoss;
using namespace testing;

/// Keeps the gradient of the one step it is given, and moves nothing.
class Recorder : public BlockOptimiser {
 public:
  explicit Recorder(const Model& model)
      : flat_(flat_parameters(model)),
        gradient_(torch::zeros_like(flat_)),
        state_(torch::zeros_like(flat_)) {}
  kernels::OptimiserSteps next_steps(int64_t count) override {
    steps += count;
    return {.settings = {.kind = kernels::OptimiserKind::Sgd},
            .parameters = flat_.data_ptr<float>(),
            .gradient = gradient_.data_ptr<float>(),
            .first = state_.data_ptr<float>(),
            .second = state_.data_ptr<float>(),
            .count = flat_.numel(),
            .factors = &no_step_};
  }
  const at::Tensor& flat_gradient() const { return gradient_; }
  int64_t steps = 0;

 private:
  at::Tensor flat_, gradient_, state_;
  kernels::StepFactors no_step_{};  // a learning rate of 0
};

void set_weights(Model& model, const Json& weights) {
  torch::NoGradGuard no_gradients;
  for (auto& item : model.named_parameters()) item.value().copy_(tensor_of(weights.at(item.key())));
}

/// Loss and gradients by both paths.
void expect_golden(Model& model, const Batch& batch, const Json& reference) {
  set_weights(model, reference["weights"]);
  const Loss loss = model.loss(batch, {Random(1), 0});
  EXPECT_NEAR(loss.objective.item<double>(), reference["loss"].get<double>(), 1e-5);
  loss.objective.backward();
  for (const auto& item : model.named_parameters())
    EXPECT_LT(
        largest_difference(item.value().grad(), tensor_of(reference["gradients"].at(item.key()))),
        1e-5)
        << item.key();

  Recorder recorder(model);
  std::vector<int64_t> order(static_cast<size_t>(batch.size));
  for (size_t i = 0; i < order.size(); ++i) order[i] = int64_t(i);
  const double sum = model.train_block({batch.tensors, order, batch.size}, recorder);
  EXPECT_EQ(recorder.steps, 1);
  EXPECT_NEAR(sum / double(batch.size), reference["loss"].get<double>(), 1e-5);
  int64_t at = 0;
  for (const auto& item : model.named_parameters()) {
    const at::Tensor part =
        recorder.flat_gradient().narrow(0, at, item.value().numel()).view(item.value().sizes());
    EXPECT_LT(largest_difference(part, tensor_of(reference["gradients"].at(item.key()))), 1e-5)
        << item.key() << " by the kernel";
    at += item.value().numel();
  }
}

class FeaturesGolden : public ::testing::TestWithParam<std::pair<const char*, TabularLoss>> {};

TEST_P(FeaturesGolden, MatchesPyTorch) {
  const auto [name, loss] = GetParam();
  const Json reference = golden("training")[std::string("features_") + name];
  const bool several = loss == TabularLoss::CrossEntropy;
  FeatureAttentionOptions options;
  options.hidden = {5};
  FeatureAttention model(
      options, {{"a", "b", "c", "d"}, reference["column_of_input"], several ? 3 : 1, loss});
  const Batch batch{{{"inputs", tensor_of(reference["inputs"])},
                     {"target", tensor_of(reference["target"], several ? at::kLong : at::kFloat)}},
                    9};
  expect_golden(model, batch, reference);

  Tap tap;
  const Predictions answers = model.predict(batch);
  model.replay(batch, answers, &tap);
  EXPECT_LT(largest_difference(tap.map("attention").weights.view({9, 4}),
                               tensor_of(reference["attention"])),
            1e-6);
  const at::Tensor outputs = tensor_of(reference["outputs"]);
  if (loss == TabularLoss::SquaredError) {
    EXPECT_LT(largest_difference(answers.values, outputs), 1e-5);
  } else {
    const at::Tensor scores =
        several ? torch::softmax(outputs, 1)
                : torch::cat({torch::sigmoid(-outputs), torch::sigmoid(outputs)}, 1);
    EXPECT_LT(largest_difference(answers.scores, scores), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, FeaturesGolden,
                         ::testing::Values(std::pair("two", TabularLoss::BinaryCrossEntropy),
                                           std::pair("several", TabularLoss::CrossEntropy),
                                           std::pair("number", TabularLoss::SquaredError)),
                         [](const auto& info) { return info.param.first; });

TEST(ContextGolden, MatchesPyTorch) {
  const Json reference = golden("training")["context"];
  ContextAttention model({}, {5, 8});
  const Batch batch{{{"inputs", tensor_of(reference["inputs"])},
                     {"context", tensor_of(reference["context"], at::kLong)},
                     {"target", tensor_of(reference["target"])}},
                    6};
  expect_golden(model, batch, reference);
  EXPECT_LT(largest_difference(model.predict(batch).values, tensor_of(reference["outputs"])), 1e-5);
}

}  // namespace
}  // namespace fovea::golden_test
