#include "fovea/nn/recurrent/recurrent.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/rnn.h>

#include <cmath>

#include "fovea/nn/recurrent/recurrent_layer.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::recurrent_test {
namespace {

using namespace testing;

constexpr int64_t kBatch = 4, kSteps = 6, kInputs = 3, kHidden = 5;
const std::vector<int64_t> kLengths{3, 6, 1, 4};  // in no order, so that rows must move

/// rnn, gru, lstm, or a GRU with another reset gate.
RecurrentOptions options_of(const std::string& name) {
  RecurrentOptions options{name.substr(0, name.find('_')), kInputs, kHidden};
  options.reset.before = name == "gru_before";
  options.reset.inputs = name == "gru_gated" ? 2 : 0;
  return options;
}

/// A network in float64, where only real mistakes are larger than 1e-12.
std::shared_ptr<Recurrent> network(const std::string& cell, int64_t layers = 1,
                                   bool bidirectional = false, double dropout = 0) {
  RecurrentOptions options = options_of(cell);
  options.layers = layers, options.bidirectional = bidirectional, options.dropout = dropout;
  const auto net = std::make_shared<Recurrent>(options);
  net->initialise(Random(3));
  net->to(torch::kFloat64);
  torch::NoGradGuard no_gradients;  // biases start at 0: let them count
  for (auto& item : net->named_parameters())
    item.value() +=
        Random(4).split(item.key()).normal_tensor(item.value().sizes(), 0, 0.1, torch::kFloat64);
  return net;
}

at::Tensor inputs() {
  return Random(5).normal_tensor({kBatch, kSteps, kInputs}, 0, 1, torch::kFloat64);
}

RecurrentState start_of(const Recurrent& net) {
  RecurrentState state = net.zeros(kBatch);
  uint64_t place = 0;
  for (auto* tensors : {&state.hidden, &state.cell})
    for (at::Tensor& tensor : *tensors)
      tensor = Random(6).split(place++).normal_tensor(tensor.sizes(), 0, 0.5, torch::kFloat64);
  return state;
}

void expect_same(const RecurrentState& a, const RecurrentState& b, const std::string& where) {
  ASSERT_EQ(a.hidden.size(), b.hidden.size());
  ASSERT_EQ(a.cell.size(), b.cell.size());
  for (size_t i = 0; i < a.hidden.size(); ++i)
    EXPECT_LT(largest_difference(a.hidden[i], b.hidden[i]), 1e-12) << where << ", hidden " << i;
  for (size_t i = 0; i < a.cell.size(); ++i)
    EXPECT_LT(largest_difference(a.cell[i], b.cell[i]), 1e-12) << where << ", cell " << i;
}

std::vector<at::Tensor> of_row(const std::vector<at::Tensor>& tensors, int64_t row) {
  std::vector<at::Tensor> own;
  for (const at::Tensor& tensor : tensors) own.push_back(tensor.narrow(0, row, 1));
  return own;
}

void copy_weights(const torch::nn::Module& from, const std::string& from_layer,
                  torch::nn::Module& to, const std::string& to_layer) {
  torch::NoGradGuard no_gradients;
  const auto source = from.named_parameters();
  auto target = to.named_parameters();
  for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
    target[name + to_layer].copy_(source[name + from_layer]);
}

class Cells : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Cells,
                         ::testing::Values("rnn", "gru", "lstm", "gru_before", "gru_gated"),
                         [](const auto& info) { return info.param; });

TEST_P(Cells, StepByStepEqualsTheWholeSequence) {
  const auto net = network(GetParam(), 3, false, 0.4);
  const Random random(8);
  for (const Random* drawn : {static_cast<const Random*>(nullptr), &random}) {
    const auto masks = net->dropout_masks(kBatch, drawn);
    const at::Tensor x = inputs();
    RecurrentState state = start_of(*net);
    const RecurrentOutput whole = net->run(x, {}, state, masks);
    EXPECT_EQ(whole.outputs.sizes(), (std::vector<int64_t>{kBatch, kSteps, kHidden}));
    for (int64_t step = 0; step < kSteps; ++step) {
      state = net->step(x.select(1, step), state, masks);
      EXPECT_LT(largest_difference(state.hidden.back(), whole.outputs.select(1, step)), 1e-12)
          << "step " << step;
    }
    expect_same(state, whole.state, "after the last step");
  }
}

TEST_P(Cells, RowsOfDifferentLengthsEqualTheSameRowsAlone) {
  const at::Tensor x = inputs(), lengths = torch::tensor(kLengths);
  const Random random(8);
  for (const bool bidirectional : {false, true}) {
    const auto net = network(GetParam(), 2, bidirectional, 0.4);
    const RecurrentState start = start_of(*net);
    const auto masks = net->dropout_masks(kBatch, &random);
    const RecurrentOutput together = net->run(x, lengths, start, masks);
    for (int64_t row = 0; row < kBatch; ++row) {
      const int64_t length = kLengths[static_cast<size_t>(row)];
      const at::Tensor own = torch::tensor({row});
      const RecurrentOutput alone = net->run(x.narrow(0, row, 1).narrow(1, 0, length), {},
                                             start.select(own), of_row(masks, row));
      EXPECT_LT(largest_difference(together.outputs[row].narrow(0, 0, length), alone.outputs[0]),
                1e-12)
          << "row " << row;
      EXPECT_EQ(together.outputs[row].narrow(0, length, kSteps - length).abs().sum().item<double>(),
                0)
          << "padding of row " << row;
      expect_same(together.state.select(own), alone.state, "row " + std::to_string(row));
    }
  }
}

TEST_P(Cells, PaddingNeverEnters) {
  const auto net = network(GetParam(), 2, true);
  const at::Tensor x = inputs(), lengths = torch::tensor(kLengths), spoilt = x.clone();
  for (int64_t row = 0; row < kBatch; ++row)
    spoilt[row].slice(0, kLengths[static_cast<size_t>(row)]).fill_(NAN);
  const RecurrentOutput clean = net->run(x, lengths, {}, {}),
                        same = net->run(spoilt, lengths, {}, {});
  EXPECT_TRUE(clean.outputs.equal(same.outputs));
}

TEST_P(Cells, TheStateIsThatOfTheLastRealStep) {
  const auto net = network(GetParam(), 2, true);
  const RecurrentOutput result = net->run(inputs(), torch::tensor(kLengths), {}, {});
  ASSERT_EQ(result.state.hidden.size(), 4u);  // two layers, two directions
  EXPECT_EQ(result.state.cell.size(), GetParam() == "lstm" ? 4u : 0u);
  for (int64_t row = 0; row < kBatch; ++row) {
    const int64_t last = kLengths[static_cast<size_t>(row)] - 1;
    EXPECT_TRUE(result.state.hidden[2][row].equal(result.outputs[row][last].narrow(0, 0, kHidden)))
        << "forward, row " << row;
    EXPECT_TRUE(
        result.state.hidden[3][row].equal(result.outputs[row][0].narrow(0, kHidden, kHidden)))
        << "backward, row " << row;
  }
}

TEST_P(Cells, AnEmptyStartIsZeros) {
  const auto net = network(GetParam(), 2);
  const RecurrentOutput a = net->run(inputs(), {}, {}, {}),
                        b = net->run(inputs(), {}, net->zeros(kBatch), {}),
                        c = net->run(inputs(), {}, start_of(*net), {});
  EXPECT_TRUE(a.outputs.equal(b.outputs));
  EXPECT_GT(largest_difference(a.outputs, c.outputs), 1e-3);
}

TEST_P(Cells, GradientsOfWholeSequences) {
  const auto net = network(GetParam(), 2, true, 0.4);
  const at::Tensor x = inputs().requires_grad_(true);
  const RecurrentState start = start_of(*net);
  const Random random(8);
  const auto masks = net->dropout_masks(kBatch, &random);
  std::vector<at::Tensor> leaves = net->parameters();
  leaves.push_back(x);
  for (const auto* tensors : {&start.hidden, &start.cell})
    for (const at::Tensor& tensor : *tensors) leaves.push_back(tensor.requires_grad_(true));
  const at::Tensor weights =
      Random(9).normal_tensor({kBatch, kSteps, 2 * kHidden}, 0, 1, torch::kFloat64);
  const auto loss = [&] {
    const RecurrentOutput result = net->run(x, torch::tensor(kLengths), start, masks);
    at::Tensor sum = (result.outputs * weights).sum();
    for (const at::Tensor& hidden : result.state.hidden) sum = sum + hidden.square().sum();
    for (const at::Tensor& cell : result.state.cell) sum = sum + cell.square().sum();
    return sum;
  };
  EXPECT_LT(gradient_error(loss, leaves), 1e-7);
}

TEST_P(Cells, GradientsOfSteps) {
  const auto net = network(GetParam(), 2, false, 0.4);
  const at::Tensor x = inputs().requires_grad_(true);
  const Random random(8);
  const auto masks = net->dropout_masks(kBatch, &random);
  std::vector<at::Tensor> leaves = net->parameters();
  leaves.push_back(x);
  const at::Tensor weights = Random(9).normal_tensor({kBatch, kHidden}, 0, 1, torch::kFloat64);
  const auto loss = [&] {
    RecurrentState state = net->zeros(kBatch);
    at::Tensor sum = torch::zeros({}, torch::kFloat64);
    for (int64_t step = 0; step < kSteps; ++step) {
      state = net->step(x.select(1, step), state, masks);
      sum = sum + (state.hidden.back() * weights).sum();
    }
    return sum;
  };
  EXPECT_LT(gradient_error(loss, leaves), 1e-7);
}

TEST_P(Cells, DropoutMasksAreTheSameAtEveryStep) {
  const auto net = network(GetParam(), 2, false, 0.4);
  const Random random(8);
  const auto masks = net->dropout_masks(kBatch, &random);
  ASSERT_EQ(masks.size(), 1u);
  const auto lower = network(GetParam());
  RecurrentOptions above = options_of(GetParam());
  above.input_size = kHidden, above.reset.inputs = 0;
  Recurrent upper(above);
  upper.to(torch::kFloat64);
  copy_weights(*net, "_l0", *lower, "_l0");
  copy_weights(*net, "_l1", upper, "_l0");
  const at::Tensor between = lower->run(inputs(), {}, {}, {}).outputs * masks[0].unsqueeze(1);
  EXPECT_LT(largest_difference(net->run(inputs(), {}, {}, masks).outputs,
                               upper.run(between, {}, {}, {}).outputs),
            1e-12);
  EXPECT_GT(largest_difference(net->run(inputs(), {}, {}, masks).outputs,
                               net->run(inputs(), {}, {}, {}).outputs),
            1e-3);
}

/// The library's own modules, with our weights under the same names.
template <class Theirs>
void expect_like(const std::string& cell, Theirs theirs) {
  const auto net = network(cell, 2, true);
  theirs->to(torch::kFloat64);
  auto parameters = theirs->named_parameters();
  ASSERT_EQ(parameters.size(), net->named_parameters().size());
  for (const auto& item : net->named_parameters()) {
    ASSERT_TRUE(parameters.contains(item.key())) << item.key();
    torch::NoGradGuard no_gradients;
    parameters[item.key()].copy_(item.value());
  }
  const RecurrentOutput ours = net->run(inputs(), {}, {}, {});
  EXPECT_LT(largest_difference(ours.outputs, std::get<0>(theirs->forward(inputs()))), 1e-12);
}

TEST(Recurrent, StateDictsOfTorchFit) {
  const auto set = [](auto options) {
    return options.num_layers(2).bidirectional(true).batch_first(true);
  };
  expect_like("rnn", torch::nn::RNN(set(torch::nn::RNNOptions(kInputs, kHidden))));
  expect_like("gru", torch::nn::GRU(set(torch::nn::GRUOptions(kInputs, kHidden))));
  expect_like("lstm", torch::nn::LSTM(set(torch::nn::LSTMOptions(kInputs, kHidden))));
}

/// The reset gate where the papers have it, from single products of single units.
TEST(Recurrent, ResetGatesStandWhereTheFormulasHaveThem) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (const std::string form : {"gru", "gru_before", "gru_gated"}) {
    RecurrentOptions options = options_of(form);
    options.input_size = 2, options.hidden_size = 2;
    options.reset.inputs = form == "gru_gated" ? 1 : 0;
    Recurrent net(options);
    net.to(torch::kFloat64);
    torch::NoGradGuard no_gradients;
    auto all = net.named_parameters();
    for (auto& item : all)
      item.value().copy_(
          Random(2).split(item.key()).normal_tensor(item.value().sizes(), 0, 1, torch::kFloat64));
    const at::Tensor x = torch::tensor({{0.4, -1.1}}, torch::kFloat64),
                     h = torch::tensor({{0.7, -0.3}}, torch::kFloat64);
    const auto number = [&](const char* name, int64_t row, int64_t column) {
      return all[name][row][column].item<double>();
    };
    const auto bias = [&](const char* name, int64_t row) { return all[name][row].item<double>(); };
    const double in[2] = {0.4, -1.1}, before[2] = {0.7, -0.3};
    double gates[4];  // r of both units, z of both
    for (int64_t row = 0; row < 4; ++row) {
      double sum = bias("bias_ih_l0", row) + bias("bias_hh_l0", row);
      for (int64_t i = 0; i < 2; ++i)
        sum += number("weight_ih_l0", row, i) * in[i] + number("weight_hh_l0", row, i) * before[i];
      gates[row] = sigmoid(sum);
    }
    const at::Tensor next = net.step(x, {{h}, {}}, {}).hidden[0];
    for (int64_t unit = 0; unit < 2; ++unit) {
      const int64_t row = 4 + unit;
      const double r = gates[unit], z = gates[2 + unit];
      double sum = bias("bias_ih_l0", row) + number("weight_ih_l0", row, 0) * in[0];
      const double last = number("weight_ih_l0", row, 1) * in[1];
      sum += form == "gru_gated" ? r * last : last;
      if (form == "gru_before") {
        sum += bias("bias_hh_l0", row);
        for (int64_t i = 0; i < 2; ++i)
          sum += number("weight_hh_l0", row, i) * gates[i] * before[i];
      } else {
        double own = bias("bias_hh_l0", row);
        for (int64_t i = 0; i < 2; ++i) own += number("weight_hh_l0", row, i) * before[i];
        sum += r * own;
      }
      EXPECT_NEAR(next[0][unit].item<double>(), (1 - z) * std::tanh(sum) + z * before[unit], 1e-12)
          << form;
    }
  }
}

TEST(Recurrent, OnlyAGruHasAResetGate) {
  RecurrentOptions options{"lstm", kInputs, kHidden};
  options.reset.before = true;
  expect_error(ErrorKind::InvalidArgument, {"reset gate", "lstm"}, [&] { Recurrent net(options); });
}

TEST(Recurrent, StartsWithOrthogonalGatesAndAnOpenForgetGate) {
  for (const auto& [cell, gates] :
       {std::pair("rnn", 1), std::pair("gru", 3), std::pair("lstm", 4)}) {
    Recurrent net({cell, kInputs, kHidden, 2, true});
    net.initialise(Random(3));
    for (const auto& item : net.named_parameters()) {
      const at::Tensor& value = item.value();
      SCOPED_TRACE(std::string(cell) + " " + item.key());
      ASSERT_EQ(value.size(0), gates * kHidden);
      if (item.key().starts_with("bias")) {
        at::Tensor expected = torch::zeros({gates * kHidden});
        const bool forgets = gates == 4 && item.key().starts_with("bias_ih");
        if (forgets) expected.narrow(0, kHidden, kHidden).fill_(1);
        EXPECT_TRUE(value.equal(expected));
      }
      if (!item.key().starts_with("weight_hh")) continue;
      for (const at::Tensor& gate : value.split(kHidden))
        EXPECT_LT(largest_difference(gate.matmul(gate.t()), torch::eye(kHidden)), 1e-6);
    }
  }
}

TEST(Recurrent, OrthogonalMatricesAre) {
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{1, 1}, {6, 6}, {3, 7}, {7, 3}, {64, 64}}) {
    const at::Tensor matrix = orthogonal(rows, columns, Random(2));
    EXPECT_EQ(matrix.sizes(), (std::vector<int64_t>{rows, columns}));
    const at::Tensor product =
        rows <= columns ? matrix.matmul(matrix.t()) : matrix.t().matmul(matrix);
    EXPECT_LT(largest_difference(product, torch::eye(std::min(rows, columns))), 1e-6)
        << rows << " x " << columns;
    EXPECT_TRUE(matrix.equal(orthogonal(rows, columns, Random(2))));
  }
  EXPECT_GT(largest_difference(orthogonal(6, 6, Random(2)), orthogonal(6, 6, Random(3))), 0.1);
}

TEST(Recurrent, DropoutMasksAreScaledAndOnlyBetweenLayers) {
  const auto net = network("gru", 3, true, 0.25);
  const Random random(8);
  const auto masks = net->dropout_masks(50, &random);
  ASSERT_EQ(masks.size(), 2u);
  for (const at::Tensor& mask : masks) {
    EXPECT_EQ(mask.sizes(), (std::vector<int64_t>{50, 2 * kHidden}));
    EXPECT_TRUE((mask.eq(0) | (mask - 1 / 0.75).abs().lt(1e-12)).all().item<bool>());
    EXPECT_NEAR(mask.mean().item<double>(), 1, 0.1);
  }
  EXPECT_FALSE(masks[0].equal(masks[1]));
  EXPECT_TRUE(net->dropout_masks(50, nullptr).empty());
  EXPECT_TRUE(network("gru", 3)->dropout_masks(50, &random).empty());
  EXPECT_TRUE(network("gru", 1, false, 0.25)->dropout_masks(50, &random).empty());
}

TEST(Recurrent, SequenceDropoutIsTheSameAtEveryStep) {
  const at::Tensor x = torch::ones({3, 7, 40});
  const Random random(8);
  const at::Tensor dropped = sequence_dropout(x, 0.5, &random);
  EXPECT_TRUE(dropped.equal(dropped.narrow(1, 0, 1).expand_as(dropped)));
  EXPECT_TRUE((dropped.eq(0) | dropped.eq(2)).all().item<bool>());
  EXPECT_FALSE(dropped[0].equal(dropped[1])) << "each row has its own mask";
  EXPECT_TRUE(dropped.eq(0).any().item<bool>() && dropped.eq(2).any().item<bool>());
  EXPECT_TRUE(sequence_dropout(x, 0.5, nullptr).is_same(x));
  EXPECT_TRUE(sequence_dropout(x, 0, &random).is_same(x));
}

TEST(Recurrent, StatesCanBeSelectedWithRepetition) {
  const auto net = network("lstm", 2);
  const RecurrentState state = start_of(*net), picked = state.select(torch::tensor({2, 0, 2}));
  ASSERT_EQ(picked.hidden.size(), 2u);
  ASSERT_EQ(picked.cell.size(), 2u);
  EXPECT_TRUE(picked.hidden[1].equal(
      torch::stack({state.hidden[1][2], state.hidden[1][0], state.hidden[1][2]})));
  EXPECT_TRUE(picked.cell[0][1].equal(state.cell[0][0]));
}

TEST(Recurrent, RefusesWhatItCannotDo) {
  expect_error(ErrorKind::InvalidArgument, {"'elman'", "rnn, gru, lstm"}, [] {
    Recurrent({"elman", 2, 3});
  });
  expect_error(ErrorKind::InvalidArgument, {"2, 0, 1"}, [] { Recurrent({"gru", 2, 0}); });
  const auto net = network("gru", 1, true);
  expect_error(ErrorKind::Internal, {"bidirectional"},
               [&] { net->step(inputs().select(1, 0), net->zeros(kBatch), {}); });
}

/// Lengths on a GPU are not waited for; the same code runs on a CPU when it is called by its name.
TEST(PaddedLayer, IsTheLayerWithoutItsPadding) {
  for (const char* cell : {"rnn", "gru", "lstm"})
    for (const bool bidirectional : {false, true}) {
      const auto net = network(cell, 1, bidirectional);
      RecurrentLayer layer{cell, {}};
      for (const auto& item : net->named_parameters()) layer.weights.push_back(item.value());
      const at::Tensor x = inputs().requires_grad_(), lengths = torch::tensor({3, 6, 0, 4});
      const RecurrentState start = start_of(*net);
      const auto layout = std::make_shared<const SequenceLayout>(lengths, kBatch, kSteps);
      const RecurrentOutput expected = run_library_layer(layer, x, *layout, start),
                            found = run_padded_layer(layer, x, lengths, start);
      const std::string where = concat(cell, bidirectional ? ", both ways" : "");
      EXPECT_LT(largest_difference(found.outputs, expected.outputs), 1e-12) << where;
      expect_same(found.state, expected.state, where);
      const auto gradients = [&](const RecurrentOutput& run) {
        at::Tensor sum = (run.outputs * run.outputs.detach()).sum();
        for (const at::Tensor& last : run.state.hidden) sum = sum + last.sum();
        for (const at::Tensor& last : run.state.cell) sum = sum + last.square().sum();
        std::vector<at::Tensor> of{x};
        of.insert(of.end(), layer.weights.begin(), layer.weights.end());
        return torch::autograd::grad({sum}, of);
      };
      const auto own = gradients(found), reference = gradients(expected);
      for (size_t i = 0; i < own.size(); ++i)
        EXPECT_LT(largest_difference(own[i], reference[i]), 1e-10) << where << ", gradient " << i;
    }
}

}  // namespace
}  // namespace fovea::recurrent_test
