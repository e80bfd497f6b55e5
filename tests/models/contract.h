// What every model must do, as checks that the contract tests of all kinds of models share.
#pragma once

#include <gtest/gtest.h>
#include <torch/optim.h>
#include <string>

#include "fovea/models/model.h"
#include "fovea/tensor/torch.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::testing {

/// One row of the batch.
inline Batch row_of(const Batch& batch, int64_t row) {
  Batch alone{{}, 1};
  for (const auto& [name, tensor] : batch.tensors) alone.tensors[name] = tensor.narrow(0, row, 1);
  return alone;
}

/// The model with fresh weights times `scale`: fresh ones are small, larger ones tell paths apart.
template <class M>
std::shared_ptr<M> initialised(std::shared_ptr<M> model, uint64_t seed, double scale = 1) {
  model->initialise(Random(seed));
  torch::NoGradGuard no_gradients;
  for (auto& parameter : model->parameters()) parameter.mul_(scale);
  return model;
}

inline double loss_of(Model& model, const Batch& rows) {
  return model.loss(rows, {Random(1), 0}).objective.item<double>();
}

/// What is dropped, masked or sampled depends on the stream of the step alone.
inline void expect_loss_by_stream(Model& model, const Batch& rows) {
  const auto loss = [&](uint64_t seed) {
    return model.loss(rows, {Random(seed), 0}).objective.item<double>();
  };
  EXPECT_EQ(loss(3), loss(3));
  EXPECT_NE(loss(3), loss(4));
}

/// Classes: neither padding nor the other rows of a batch change what a row is.
inline void expect_rows_and_padding_alone(Model& model, const Batch& rows, const Batch& padded) {
  torch::NoGradGuard no_gradients;
  EXPECT_NEAR(loss_of(model, padded), loss_of(model, rows), 1e-5);
  const at::Tensor together = model.predict(rows).scores;
  EXPECT_LT(largest_difference(model.predict(padded).scores, together), 1e-5);
  for (int64_t row = 0; row < rows.size; ++row)
    EXPECT_LT(largest_difference(model.predict(row_of(rows, row)).scores[0], together[row]), 1e-5);
}

/// Classes: replay says what predict says, whatever the tap records.
inline void expect_replay_equals_predict(const Model& model, const Batch& rows) {
  torch::NoGradGuard no_gradients;
  const Predictions predictions = model.predict(rows);
  EXPECT_LT(largest_difference(predictions.scores.sum(1), torch::ones({rows.size})), 1e-6);
  const at::Tensor expected = std::get<0>(predictions.scores.max(1, true)).log();
  Tap live, on_demand(Record::OnDemand);
  EXPECT_LT(largest_difference(model.replay(rows, predictions, &live), expected), 1e-5);
  EXPECT_LT(largest_difference(model.replay(rows, predictions, &on_demand), expected), 1e-5);
  EXPECT_LT(largest_difference(model.replay(rows, predictions, nullptr), expected), 1e-6);
}

/// The summary counts all parameters, and the seed alone decides them. `fresh(seed)` makes a model.
template <class Fresh>
void expect_schema_and_seeds(const Batch& rows, const Fresh& fresh) {
  const auto model = fresh(1);
  check_batch(rows, model->schema());
  int64_t summed = 0;
  for (const auto& layer : model->summary()) summed += layer.parameters;
  EXPECT_EQ(summed, count_parameters(*model));
  EXPECT_TRUE(flat_parameters(*model).equal(flat_parameters(*fresh(1))));
  EXPECT_FALSE(flat_parameters(*model).equal(flat_parameters(*fresh(2))));
}

/// Every parameter that learns has a gradient, and it is finite.
inline void expect_gradients(const Model& model) {
  for (const auto& item : model.named_parameters()) {
    if (model.rule_of(item.key()).rate == 0) continue;
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    ASSERT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
  }
}

/// Trains on the same rows, with Adam.
inline void overfit(Model& model, const Batch& rows, double rate, int steps = 150) {
  torch::optim::Adam optimiser(model.parameters(), torch::optim::AdamOptions(rate));
  for (int step = 0; step < steps; ++step) {
    optimiser.zero_grad();
    model.loss(rows, {Random(1), step}).objective.backward();
    expect_gradients(model);
    if (::testing::Test::HasFatalFailure()) return;
    optimiser.step();
  }
}

struct Overfitting {
  double left = 0.2;  // of what is measured, at most
  double rate = 0.02;
  int steps = 150;
};

/// Trains on the same rows until little is left of the loss, or of another measure of the model.
inline void expect_overfits(Model& model, const Batch& rows, const Overfitting& how,
                            const std::function<double()>& measure = {}) {
  const auto measured = [&] { return measure ? measure() : loss_of(model, rows); };
  const double before = measured();
  overfit(model, rows, how.rate, how.steps);
  EXPECT_LT(measured(), how.left * before);
}

/// Each row alone has the output that it has among the others, whose outputs are `together`.
inline void expect_rows_alone(const Model& model, const Batch& rows, const Predictions& together) {
  for (int64_t row = 0; row < rows.size; ++row)
    EXPECT_EQ(model.predict(row_of(rows, row)).outputs[0][0].tokens,
              together.outputs[size_t(row)][0].tokens)
        << row;
}

/// Gradients of the loss, in float64, equal finite differences.
inline void expect_slopes(Model& model, const Batch& rows, double tolerance,
                          const GradientCheck& check = {}) {
  model.to(at::kDouble);
  const auto loss = [&] { return model.loss(rows, {Random(1), 0}).objective; };
  EXPECT_LT(gradient_error(loss, model.parameters(), check), tolerance);
}

/// A map replaced by itself changes nothing; by another one, the output.
inline void expect_replaced_map_counts(const Model& model, const Batch& rows,
                                       const Predictions& predictions, const std::string& map) {
  Tap plain, same, other;
  const at::Tensor before = model.replay(rows, predictions, &plain);
  same.replace(map, [](const AttentionMap& own) { return own.weights; });
  EXPECT_LT(largest_difference(model.replay(rows, predictions, &same), before), 1e-5) << map;
  other.replace(map, [](const AttentionMap& own) { return own.weights.flip(-1) * 3; });
  EXPECT_GT(largest_difference(model.replay(rows, predictions, &other), before), 1e-5) << map;
}

/// What has been measured without the weights is what the readable path computes, and the weights
/// on demand are its weights.
inline void expect_fused_equals_readable(const Model& model, const Batch& rows,
                                         const Predictions& predictions) {
  torch::NoGradGuard no_gradients;
  Tap live, on_demand(Record::OnDemand);
  const at::Tensor readable = model.replay(rows, predictions, &live);
  EXPECT_LT(largest_difference(model.replay(rows, predictions, &on_demand), readable), 1e-5);
  ASSERT_EQ(live.maps().size(), on_demand.maps().size());
  for (size_t i = 0; i < live.maps().size(); ++i) {
    const AttentionMap &left = live.maps()[i], &right = on_demand.maps()[i];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(left.layer, right.layer);
    ASSERT_TRUE(right.source) << left.name;
    EXPECT_LT(largest_difference(left.weights, dense_weights(right)), 1e-6) << left.name;
  }
}

/// The leaf of that axis, after the output's gradient has reached it.
inline at::Tensor expect_leaf(const Model& model, const Batch& rows, const Predictions& predictions,
                              const std::string& axis) {
  Tap tap;
  model.replay(rows, predictions, &tap).sum().backward();
  EXPECT_EQ(tap.leaves().count(axis), 1u);
  const at::Tensor leaf = tap.leaves().at(axis).values;  // [B, N, D]
  EXPECT_GT(leaf.grad().abs().sum().item<double>(), 0);
  return leaf;
}

/// bool [B, N, N]: pairs of real positions that lie in one window. real bool [B, N]
inline at::Tensor pairs_in_windows(const at::Tensor& real, int64_t window) {
  const at::Tensor place = torch::arange(real.size(1)).floor_divide(window);
  return real.unsqueeze(1) & real.unsqueeze(2) &
         (place.unsqueeze(0) == place.unsqueeze(1)).unsqueeze(0);
}

/// All parameters in float64, from a golden file.
inline void take_parameters(Model& model, const Json& parameters) {
  torch::NoGradGuard no_gradients;
  model.to(at::kDouble);
  for (auto& item : model.named_parameters()) item.value().copy_(packed(parameters.at(item.key())));
}

inline void expect_gradients_of(const Model& model, const Json& gradients,
                                const std::string& what = "") {
  for (const auto& item : model.named_parameters()) {
    if (model.rule_of(item.key()).rate == 0) continue;
    EXPECT_LT(largest_difference(item.value().grad(), packed(gradients.at(item.key()))), 1e-9)
        << item.key() << " " << what;
  }
}

/// "loss" and "gradients" of a golden file.
inline void expect_loss_of(Model& model, const Batch& batch, const Json& golden,
                           const std::string& what = "") {
  const Loss loss = model.loss(batch, {Random(1), 0});
  EXPECT_NEAR(loss.objective.item<double>(), golden["loss"].get<double>(), 1e-10) << what;
  loss.objective.backward();
  expect_gradients_of(model, golden["gradients"], what);
}

}  // namespace fovea::testing
