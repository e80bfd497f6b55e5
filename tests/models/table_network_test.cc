#include "fovea/models/table_network.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/torch.h"
#include "tests/support/golden.h"

namespace fovea::table_network_test {
namespace {

using kernels::TabularLoss;
using testing::largest_difference;

constexpr int64_t kRows = 40;

/// Column a: a value; b: a value with two pieces; c: two categories.
FeatureShape small_shape(TabularLoss loss = TabularLoss::BinaryCrossEntropy) {
  return {{"a", "b", "c"},
          {0, 1, 1, 1, 2, 2},
          loss == TabularLoss::CrossEntropy ? 3 : 1,
          loss,
          {0, 1, 4, 5}};
}

Batch small_batch(TabularLoss loss = TabularLoss::BinaryCrossEntropy) {
  const Random random(5);
  at::Tensor inputs = random.split("x").normal_tensor({kRows, 6}, 0, 1, torch::kFloat32);
  inputs = torch::where(inputs < -0.5, torch::zeros_like(inputs), inputs);  // many are 0
  const at::Tensor draw = random.split("y").uniform_tensor({kRows}, 0, 3, torch::kFloat32);
  const at::Tensor target = loss == TabularLoss::CrossEntropy ? draw.floor().to(torch::kInt64)
                            : loss == TabularLoss::BinaryCrossEntropy
                                ? (draw > 1.5).to(torch::kFloat32)
                                : draw - 1.5;
  return {{{"inputs", inputs}, {"target", target}}, kRows};
}

TableNetworkOptions small_options(const std::string& name) {
  TableNetworkOptions options;
  options.name = name;
  options.width = 8;
  options.heads = 2;
  options.layers = 1;
  options.hidden = {10};
  options.members = 3;
  options.dropout = 0;
  return options;
}

std::shared_ptr<TableNetwork> small_network(const std::string& name,
                                            FeatureShape shape = small_shape()) {
  const auto model = std::make_shared<TableNetwork>(small_options(name), std::move(shape));
  model->initialise(Random(3));
  return model;
}

TEST(ColumnEmbedding, SparseRowsGiveWhatTheBlockDiagonalGives) {
  ColumnEmbedding embedding(small_shape(), 7);
  embedding.initialise(Random(1));
  const at::Tensor x = small_batch().at("inputs");
  const auto run = [&] {
    embedding.zero_grad();
    const at::Tensor e = embedding.forward(x);
    (e * e.detach().cos()).sum().backward();
    return std::pair{e.detach(), embedding.weight.grad().clone()};
  };
  const auto [fast, fast_gradient] = run();
  const ReadableOnly readable;
  const auto [slow, slow_gradient] = run();
  EXPECT_EQ(fast.sizes(), (std::vector<int64_t>{kRows, 3, 7}));
  EXPECT_LT(largest_difference(fast, slow), 1e-5);
  EXPECT_LT(largest_difference(fast_gradient, slow_gradient), 1e-4);
}

TEST(ColumnEmbedding, IsTheSumOfItsInputs) {
  ColumnEmbedding embedding(small_shape(), 4);
  embedding.initialise(Random(1));
  torch::NoGradGuard no_gradients;
  const at::Tensor x = torch::tensor({{0.f, 2.f, 1.f, .5f, 0.f, 1.f}});
  const at::Tensor e = embedding.forward(x)[0];  // [C, d]
  const at::Tensor &w = embedding.weight, &b = embedding.bias;
  EXPECT_LT(largest_difference(e[0], b[0]), 1e-6);
  EXPECT_LT(largest_difference(e[1], b[1] + 2 * w[1] + w[2] + 0.5 * w[3]), 1e-5);
  EXPECT_LT(largest_difference(e[2], b[2] + w[5]), 1e-6);
}

class TableNetworks : public ::testing::TestWithParam<std::string> {};

TEST_P(TableNetworks, GradientsAreThoseOfFiniteDifferences) {
  for (const auto loss :
       {TabularLoss::BinaryCrossEntropy, TabularLoss::CrossEntropy, TabularLoss::SquaredError}) {
    const auto model = small_network(GetParam(), small_shape(loss));
    model->to(torch::kFloat64);
    Batch batch = small_batch(loss);
    batch.tensors["inputs"] = batch.at("inputs").to(torch::kFloat64);
    if (loss != TabularLoss::CrossEntropy)
      batch.tensors["target"] = batch.at("target").to(torch::kFloat64);
    const auto objective = [&] { return model->loss(batch, {Random(1), 0}).objective; };
    objective().backward();
    torch::NoGradGuard no_gradients;
    for (const auto& item : model->named_parameters()) {
      const at::Tensor flat = item.value().view({-1}), gradient = item.value().grad().view({-1});
      const int64_t place = flat.numel() / 2;
      constexpr double kStep = 1e-5;
      flat[place] += kStep;
      const double above = objective().item<double>();
      flat[place] -= 2 * kStep;
      const double below = objective().item<double>();
      flat[place] += kStep;
      EXPECT_NEAR(gradient[place].item<double>(), (above - below) / (2 * kStep), 1e-6)
          << item.key();
    }
  }
}

TEST_P(TableNetworks, AnswersAreTheMeanOfTheMembers) {
  for (const auto loss :
       {TabularLoss::BinaryCrossEntropy, TabularLoss::CrossEntropy, TabularLoss::SquaredError}) {
    const auto model = small_network(GetParam(), small_shape(loss));
    if (GetParam() == "linear") continue;
    const Batch batch = small_batch(loss);
    const auto answers = [&] {
      const Predictions predictions = model->predict(batch);
      return predictions.scores.defined() ? predictions.scores : predictions.values;
    };
    const at::Tensor mean = answers();
    torch::NoGradGuard no_gradients;
    at::Tensor sum = torch::zeros_like(mean);
    for (int64_t member = 0; member < 3; ++member) {  // all members become this one
      const auto alone = small_network(GetParam(), small_shape(loss));
      for (const auto& item : alone->named_parameters())
        if (item.value().dim() > 0 && item.value().size(0) == 3 &&
            (item.key().starts_with("member_") || item.key().starts_with("score_") ||
             item.key().starts_with("output_")) &&
            item.key().find('.') == std::string::npos)
          item.value().copy_(item.value()[member].unsqueeze(0).expand_as(item.value()).clone());
      const Predictions predictions = alone->predict(batch);
      sum += predictions.scores.defined() ? predictions.scores : predictions.values;
    }
    EXPECT_LT(largest_difference(mean, sum / 3), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Names, TableNetworks,
                         ::testing::Values("attention", "transformer", "plain", "linear"));

TEST(TableNetwork, EvenAttentionLeavesTheColumnsAsTheyAre) {
  const auto attention = small_network("attention"), plain = small_network("plain");
  torch::NoGradGuard no_gradients;
  auto own = attention->named_parameters();
  own["score.weight"].zero_();
  for (const auto& item : plain->named_parameters()) item.value().copy_(own[item.key()]);
  const Batch batch = small_batch();
  EXPECT_LT(largest_difference(attention->predict(batch).scores, plain->predict(batch).scores),
            1e-6);
}

TEST(TableNetwork, ManyColumnsGetNarrowVectorsAndFewWeights) {
  FeatureShape shape;
  for (int64_t i = 0; i < 1200; ++i) {
    shape.columns.push_back(concat("x", i));
    shape.column_of_input.push_back(i);
  }
  TableNetworkOptions options;
  options.members = 2;
  const TableNetwork model(options, shape);
  EXPECT_EQ(model.options().width, 4);
  EXPECT_TRUE(model.named_parameters().contains("score_rank.weight"));
  EXPECT_LT(count_parameters(model), 1'600'000);
}

TEST(TableNetwork, LinearIsLinearInThePlainInputs) {
  const auto model = small_network("linear", small_shape(TabularLoss::SquaredError));
  torch::NoGradGuard no_gradients;
  auto own = model->named_parameters();
  EXPECT_EQ(own.size(), 2u);
  own["linear.weight"].copy_(torch::tensor({{1.f, 2.f, 3.f, 4.f}}));
  own["linear.bias"].fill_(0.5);
  const at::Tensor x = torch::tensor({{1.f, 10.f, 7.f, 7.f, 100.f, 1000.f}});
  EXPECT_EQ(model->predict({{{"inputs", x}}, 1}).values.item<float>(), 1 + 20 + 300 + 4000 + 0.5f);
}

/// F(x) - F(means), F as log_odds_or_value has it.
at::Tensor change_from_means(const TableNetwork& model, const Batch& batch, TabularLoss loss) {
  const Predictions answers = model.predict(batch);
  const at::Tensor means =
      torch::tensor(model.shape().input_means, torch::kFloat32).expand({kRows, -1});
  const Predictions of_means = model.predict({{{"inputs", means}}, kRows});
  if (loss == TabularLoss::SquaredError) return (answers.values - of_means.values).squeeze(1);
  const at::Tensor best = answers.scores.argmax(1, /*keepdim=*/true);
  const auto log_odds = [&](const Predictions& of) {
    return of.scores.to(torch::kFloat64).gather(1, best).logit().squeeze(1);
  };
  return log_odds(answers) - log_odds(of_means);  // [B]
}

TEST(TableNetwork, ContributionsOfColumnsAddUpToTheAnswer) {
  for (const std::string name : {"plain", "linear"}) {
    for (const auto loss :
         {TabularLoss::BinaryCrossEntropy, TabularLoss::CrossEntropy, TabularLoss::SquaredError}) {
      FeatureShape shape = small_shape(loss);
      shape.input_means = {0.1, -0.2, 0.3, 0.4, 0.5, 0.6};
      const auto model = small_network(name, shape);
      model->set_linear(Random(7).normal_tensor({shape.outputs, 4}, 0, 1, torch::kFloat32),
                        torch::ones({shape.outputs}));
      const Batch batch = small_batch(loss);
      Tap tap;
      const Predictions answers = model->predict(batch);
      const at::Tensor with_map = model->replay(batch, answers, &tap);
      EXPECT_TRUE(torch::equal(with_map, model->replay(batch, answers, nullptr)));
      const AttentionMap& map = tap.map(TableNetwork::kContributions);
      EXPECT_EQ(map.kind, MapKind::Contribution);
      EXPECT_LT(largest_difference(map.weights.flatten(1).sum(1).to(torch::kFloat64),
                                   change_from_means(*model, batch, loss).to(torch::kFloat64)),
                1e-4)
          << name << int(loss);
    }
  }
}

TEST(TableNetwork, ContributionsOfALinearModelAreItsTerms) {
  FeatureShape shape = small_shape(TabularLoss::SquaredError);
  shape.input_means = {1, 0, 0, 0, 2, 3};
  const auto model = small_network("linear", shape);
  model->set_linear(torch::tensor({{1.f, 2.f, 3.f, 4.f}}), torch::tensor({0.5f}));
  const Batch batch{{{"inputs", torch::tensor({{2.f, 10.f, 7.f, 7.f, 5.f, 1.f}})}}, 1};
  Tap tap;
  model->replay(batch, model->predict(batch), &tap);
  EXPECT_LT(largest_difference(tap.map(TableNetwork::kContributions).weights.flatten(),
                               torch::tensor({1.f, 20.f, 3.f * 3 + 4.f * -2})),
            1e-5);
}

TEST(TableLoss, OfNumbers) {
  const at::Tensor outputs = torch::tensor({0.f, 3.f}).view({2, 1, 1}),
                   target = torch::tensor({2.f, 2.f});
  const auto value = [&](const std::string& name, double quantile = 0.5) {
    TableLossOptions options;
    options.loss = name;
    options.quantile = quantile;
    return TableLoss(options, small_shape(TabularLoss::SquaredError))(outputs, target)
        .objective.item<double>();
  };
  EXPECT_DOUBLE_EQ(value("squared"), (4 + 1) / 2.0);
  EXPECT_DOUBLE_EQ(value("absolute"), (2 + 1) / 2.0);
  EXPECT_DOUBLE_EQ(value("huber"), (1.5 + 0.5) / 2);
  EXPECT_NEAR(value("quantile", 0.9), (0.9 * 2 + 0.1 * 1) / 2, 1e-6);
}

TEST(TableLoss, BalancedClassesCountTheSame) {
  // 9 rows of class 0, one of class 1: both classes have half of the loss.
  at::Tensor target = torch::zeros({10});
  target[9] = 1;
  const at::Tensor outputs = torch::zeros({10, 2, 1}).requires_grad_();
  FeatureShape shape = small_shape();
  shape.class_counts = {9, 1};
  TableLossOptions options;
  options.class_weights = "balanced";
  TableLoss(options, shape)(outputs, target).objective.backward();
  const at::Tensor gradient = outputs.grad().sum({1, 2});  // [10]
  EXPECT_NEAR(gradient.narrow(0, 0, 9).sum().item<double>(), -gradient[9].item<double>(), 1e-6);
}

}  // namespace
}  // namespace fovea::table_network_test
