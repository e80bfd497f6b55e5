// REINFORCE for places, held against the exact gradient of the expected reward. Actions are real
// numbers, so a toy is enumerated by quadrature: the horizontal coordinate of the second and of the
// third place goes through an even grid of 33 nodes, all pairs of them are episodes, and each
// counts with its density times the area of a grid cell. For normal densities such sums are exact
// to rounding when the grid is finer than the deviation. The vertical coordinates are given, which
// leaves the rows of the policy for the horizontal ones, weight[0] and bias[0], to be compared.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fovea/models/recurrent_glimpses.h"
#include "tests/models/contract.h"

namespace fovea::glimpse_policy_test {
namespace {

using at::Tensor;
using testing::largest_difference;

constexpr double kSigma = 0.4, kEdge = 3.2, kStep = 0.2;
constexpr int64_t kNodes = 33, kHidden = 4;
constexpr double kFirst[] = {0.3, -0.2}, kHeights[] = {0.4, -0.5};  // l_1; y of a_2 and a_3

RecurrentGlimpsesOptions options() {
  RecurrentGlimpsesOptions options;
  options.glimpses = 3;
  options.patch = 2;
  options.glimpse_hidden = 4;
  options.hidden = kHidden;
  options.sigma = kSigma;
  return options;
}

class Toy : public ::testing::Test {
 protected:
  void SetUp() override {
    model.initialise(Random(3));
    model.to(torch::kDouble);
    torch::NoGradGuard no_gradients;
    for (auto& item : model.named_parameters())
      if (item.key().ends_with("bias")) item.value().fill_(0.1);
    for (const std::string name : {"locate.weight", "baseline.weight"})  // they begin as zeros
      named(name).copy_(Random(4).normal_tensor(named(name).sizes(), 0, 0.3, torch::kDouble));
    const Tensor picture = Random(8).uniform_tensor({1, 1, 6, 6}, 0, 1, torch::kDouble);
    picture.slice(3, 0, 3).zero_();  // what is right depends on the side that is looked at
    batch = {{{"image", picture}, {"target", torch::zeros({1}, torch::kLong)}}, 1};
    nodes = torch::arange(kNodes, torch::kDouble) * kStep - kEdge;
    // A classifier that is right somewhere and wrong elsewhere.
    const Tensor states = last_states();                               // [N^2, D]
    const Tensor direction = states[0] - states[kNodes * kNodes - 1];  // [D]
    Tensor weight = named("classify.weight"), bias = named("classify.bias");
    weight.zero_();
    weight[0].copy_(direction);
    bias[1] = states.mv(direction).median();
    bias[0] = 0;
  }

  Tensor named(const std::string& name) { return model.named_parameters()[name]; }

  /// The pairs of nodes: a_2 the slower one. [N^2, 3, 2]
  Tensor draws() const {
    const Tensor second = nodes.repeat_interleave(kNodes), third = nodes.repeat({kNodes});
    const auto place = [&](const Tensor& x, double y) {
      return torch::stack({x, torch::full_like(x, y)}, 1);  // [N^2, 2]
    };
    return torch::stack({place(torch::full_like(second, kFirst[0]), kFirst[1]),
                         place(second, kHeights[0]), place(third, kHeights[1])},
                        1);
  }

  /// The states after each glimpse of all pairs, written out: [3, N^2, D].
  Tensor states() {
    const Tensor places = draws().clamp(-1, 1);  // [N^2, 3, 2]
    const GlimpseSensor sensor({2, 1});
    const Tensor seen =
        sensor.see(sensor.prepare(batch.at("image")), places.flatten(0, 1).unsqueeze(0))[0].view(
            {-1, 3, 4});
    const auto layer = [&](const std::string& name, const Tensor& x) {
      return torch::linear(x, named(name + ".weight"), named(name + ".bias"));
    };
    Tensor state = torch::zeros({kNodes * kNodes, kHidden}, torch::kDouble);
    std::vector<Tensor> all;
    for (int64_t t = 0; t < 3; ++t) {
      const Tensor what = layer("what", seen.select(1, t)).relu(),
                   where = layer("where", places.select(1, t)).relu();
      const Tensor own = layer("combine", torch::cat({what, where}, 1)).relu();
      state = (layer("core_input", own) + state.matmul(named("core_state.weight").t())).relu();
      all.push_back(state);
    }
    return torch::stack(all);
  }
  Tensor last_states() { return states()[2]; }

  Tensor rewards() {
    const Tensor scores =
        torch::linear(last_states(), named("classify.weight"), named("classify.bias"));
    return (scores.argmax(1) == 0).to(torch::kDouble);  // [N^2]
  }

  /// How probable each pair is: density times the area of its cell.
  Tensor probabilities() {
    const Tensor means = torch::linear(states().narrow(0, 0, 2), named("locate.weight"),
                                       named("locate.bias"));  // [2, N^2, 2]
    Tensor density = torch::ones({kNodes * kNodes}, torch::kDouble);
    for (int64_t t = 0; t < 2; ++t) {
      const Tensor z = (draws().select(1, t + 1).select(1, 0) - means[t].select(1, 0)) / kSigma;
      density =
          density * (-z.square() / 2).exp() / (kSigma * std::sqrt(2 * std::numbers::pi)) * kStep;
    }
    return density;
  }

  /// The model's own gradient of each episode for the policy's horizontal rows: [N^2, D + 1].
  Tensor estimates() {
    const std::vector<Tensor> policy{named("locate.weight"), named("locate.bias")};
    const Tensor all = draws();
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < all.size(0); ++i) {
      const Loss loss = model.loss_along(batch, all[i].view({1, 1, 3, 2}), kSigma);
      const auto gradients = torch::autograd::grad({loss.objective}, policy);
      rows.push_back(torch::cat({gradients[0][0], gradients[1].narrow(0, 0, 1)}));
    }
    return torch::stack(rows);
  }

  RecurrentGlimpses model{options(), {2, 1, 6, 6, 3, 3}};
  Batch batch;
  Tensor nodes;
};

TEST_F(Toy, TheMeanOfAllEstimatesIsTheGradientOfTheExpectedReward) {
  torch::NoGradGuard no_gradients;
  const Tensor right = rewards();
  EXPECT_NEAR(probabilities().sum().item<double>(), 1, 1e-9) << "the grid is wide and fine enough";
  const double expected_reward = (probabilities() * right).sum().item<double>();
  ASSERT_GT(expected_reward, 0.1);
  ASSERT_LT(expected_reward, 0.9);

  std::vector<double> exact;
  const auto slope = [&](Tensor value) {  // of one number of the policy
    constexpr double kMove = 1e-5;
    const double middle = value.item<double>();
    const auto at = [&](double moved) {
      value.fill_(moved);
      return (probabilities() * right).sum().item<double>();
    };
    exact.push_back((at(middle + kMove) - at(middle - kMove)) / (2 * kMove));
    value.fill_(middle);
  };
  for (int64_t i = 0; i < kHidden; ++i) slope(named("locate.weight")[0][i]);
  slope(named("locate.bias")[0]);

  Tensor mean;
  {
    torch::AutoGradMode gradients(true);
    mean = (estimates() * probabilities().detach().unsqueeze(1)).sum(0).detach();
  }
  const Tensor wanted = -torch::tensor(exact, torch::kDouble);  // the loss falls where rewards rise
  EXPECT_GT(wanted.abs().max().item<double>(), 0.05);
  EXPECT_LT(largest_difference(mean, wanted), 1e-8);
}

TEST_F(Toy, ABaselineLowersTheVarianceAndNotTheMean) {
  const auto moments = [&](double baseline) {
    {
      torch::NoGradGuard no_gradients;
      named("baseline.weight").zero_();
      named("baseline.bias").fill_(baseline);
    }
    const Tensor own = estimates().detach(), weights = probabilities().detach().unsqueeze(1);
    const Tensor mean = (own * weights).sum(0);
    return std::pair(mean, ((own - mean).square() * weights).sum().item<double>());
  };
  const double expected = (probabilities() * rewards()).sum().item<double>();
  const auto [plain_mean, plain_variance] = moments(0);
  const auto [mean, variance] = moments(expected);
  EXPECT_LT(largest_difference(mean, plain_mean), 1e-8);
  EXPECT_LT(variance, 0.8 * plain_variance);
}

TEST(GlimpsePolicy, DrawsAreNormalAroundTheMean) {
  RecurrentGlimpsesOptions many = options();
  many.glimpses = 2;
  many.evaluation_samples = 1000;
  RecurrentGlimpses model(many, {2, 1, 6, 6, 3, 3});
  model.initialise(Random(3));
  torch::NoGradGuard no_gradients;
  model.named_parameters()["locate.weight"].zero_();
  model.named_parameters()["locate.bias"].copy_(torch::tensor({0.25f, -0.5f}));
  const Batch batch{
      {{"image", Random(8).uniform_tensor({4, 1, 6, 6}, 0, 255, torch::kFloat).to(torch::kByte)}},
      4};
  const Tensor draws = model.play(batch).draws.flatten(0, 1);  // [4000, 2, 2]
  const Tensor first = draws.select(1, 0), second = draws.select(1, 1);
  EXPECT_LE(first.abs().max().item<double>(), 1);
  EXPECT_LT(first.mean(0).abs().max().item<double>(), 0.04);
  EXPECT_LT((first.var(0) - 1.0 / 3).abs().max().item<double>(), 0.03);
  EXPECT_LT((second.mean(0) - torch::tensor({0.25f, -0.5f})).abs().max().item<double>(), 0.03);
  EXPECT_LT((second.std(0) - kSigma).abs().max().item<double>(), 0.03);
}

}  // namespace
}  // namespace fovea::glimpse_policy_test
