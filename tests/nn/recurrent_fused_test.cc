// The kernels' recurrent layers beside LibTorch's, in float32.
#include "fovea/nn/recurrent/recurrent_layer.h"

#include <gtest/gtest.h>

#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "tests/nn/testing.h"
#include "tests/support/expect_error.h"

namespace fovea::recurrent_fused_test {
namespace {

using at::Tensor;
using testing::expect_error;

Tensor numbers(at::IntArrayRef shape, uint64_t seed, double deviation = 1) {
  return Random(seed).normal_tensor(shape, 0, deviation, at::TensorOptions(at::kFloat));
}

std::shared_ptr<Recurrent> network(const RecurrentOptions& options) {
  return testing::stirred(std::make_shared<Recurrent>(options), Random(3), Random(4), 0.1);
}

/// What of a call's results goes into the loss.
struct Use {
  bool outputs = true, hidden = true, cell = true;
};

struct Call {
  RecurrentOptions options;
  int64_t batch, steps;
  std::vector<int64_t> lengths{};  // empty: all are `steps`
  bool start = true;
  Use use{};

  std::string name() const {
    return concat(options.cell, " ", options.input_size, " -> ", options.hidden_size, " x ",
                  options.layers, options.bidirectional ? ", both ways" : "", ", ", batch, " x ",
                  steps, lengths.empty() ? "" : ", lengths", start ? ", start" : "");
  }
};

RecurrentState start_of(const Recurrent& net, int64_t batch) {
  RecurrentState state = net.zeros(batch);
  uint64_t place = 0;
  for (auto* tensors : {&state.hidden, &state.cell})
    for (Tensor& tensor : *tensors)
      tensor = numbers(tensor.sizes(), 60 + place++, 0.5).requires_grad_();
  return state;
}

/// All results and all gradients.
std::vector<Tensor> everything(const Call& call) {
  const auto net = network(call.options);
  const Tensor x = numbers({call.batch, call.steps, call.options.input_size}, 5).requires_grad_();
  const Tensor lengths = call.lengths.empty() ? Tensor() : torch::tensor(call.lengths);
  const RecurrentState start = call.start ? start_of(*net, call.batch) : RecurrentState();
  const Random random(8);
  const RecurrentOutput got = net->run(x, lengths, start, net->dropout_masks(call.batch, &random));
  std::vector<Tensor> results{got.outputs}, leaves = net->parameters();
  Tensor loss = at::zeros({});
  if (call.use.outputs) loss = loss + (got.outputs * numbers(got.outputs.sizes(), 9)).sum();
  uint64_t seed = 10;
  const auto add = [&](const std::vector<Tensor>& states, bool used) {
    for (const Tensor& state : states) {
      results.push_back(state);
      if (used) loss = loss + (state * numbers(state.sizes(), seed++)).sum();
    }
  };
  add(got.state.hidden, call.use.hidden);
  add(got.state.cell, call.use.cell);
  leaves.push_back(x);
  for (const auto* states : {&start.hidden, &start.cell})
    leaves.insert(leaves.end(), states->begin(), states->end());
  for (const Tensor& gradient :
       torch::autograd::grad({loss}, leaves, {}, false, false, /*allow_unused=*/true))
    results.push_back(gradient);
  return results;
}

double worst(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() && !b[i].defined()) continue;
    // The kernels give zeros where LibTorch knows that nothing depends on an input.
    const Tensor x = a[i].defined() ? a[i] : at::zeros_like(b[i]);
    const Tensor y = b[i].defined() ? b[i] : at::zeros_like(a[i]);
    EXPECT_EQ(x.sizes(), y.sizes()) << i;
    if (x.numel() == 0) continue;
    const double scale = std::max(1.0, y.abs().max().item<double>());
    const double difference = (x - y).abs().max().item<double>() / scale;
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

void expect_like_the_library(const Call& call) {
  SCOPED_TRACE(call.name());
  const std::vector<Tensor> fast = everything(call);
  const ReadableOnly readable;
  EXPECT_LT(worst(fast, everything(call)), 1e-5);
}

class FusedCells : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, FusedCells, ::testing::Values("rnn", "gru", "lstm"),
                         [](const auto& info) { return info.param; });

TEST_P(FusedCells, EqualLibTorchsForEverySize) {
  for (const int64_t hidden : {1, 3, 17, 50, 64, 256})
    for (const int64_t batch : {1, 2, 65}) {
      if (hidden == 256 && batch == 65) continue;  // slow, and nothing new
      std::vector<int64_t> lengths;
      for (int64_t row = 0; row < batch; ++row) lengths.push_back((row * 5 + 3) % 8);
      const bool both = hidden % 2 == 1;
      expect_like_the_library({{GetParam(), 7, hidden, 1, both}, batch, 7, {}, false});
      expect_like_the_library({{GetParam(), 7, hidden, 1, true}, batch, 7, lengths});
      expect_like_the_library({{GetParam(), 20, hidden, 1, false}, batch, 7, lengths, both});
    }
}

TEST_P(FusedCells, EqualLibTorchsForEveryKindOfLengths) {
  for (const auto& lengths : std::vector<std::vector<int64_t>>{
           {4, 4, 4}, {1, 1, 1}, {0, 4, 2}, {0, 0, 1}, {2, 2, 2}, {1, 3, 4}})
    for (const int64_t layers : {1, 2})
      expect_like_the_library({{GetParam(), 6, 10, layers, true, 0.3}, 3, 4, lengths});
  expect_like_the_library({{GetParam(), 6, 10, 3, false, 0.3}, 3, 4, {}});
}

TEST_P(FusedCells, OnlySomeResultsMayBeUsed) {
  for (const Use use :
       {Use{true, false, false}, Use{false, true, false}, Use{false, false, true}}) {
    if (!use.outputs && !use.hidden && GetParam() != "lstm") continue;
    for (const bool start : {false, true})
      expect_like_the_library({{GetParam(), 5, 18, 2, true}, 4, 6, {6, 0, 2, 5}, start, use});
  }
}

TEST_P(FusedCells, WithoutGradientsTheResultsAreTheSame) {
  const auto net = network({GetParam(), 6, 19, 2, true});
  const Tensor x = numbers({5, 7, 6}, 5), lengths = torch::tensor({7, 2, 0, 7, 1});
  const RecurrentOutput with = net->run(x, lengths, {}, {});
  torch::NoGradGuard no_gradients;
  const RecurrentOutput without = net->run(x, lengths, {}, {});
  EXPECT_TRUE(with.outputs.equal(without.outputs));
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(with.state.hidden[i].equal(without.state.hidden[i]));
}

TEST_P(FusedCells, PaddingNeverEnters) {
  const auto net = network({GetParam(), 6, 19, 2, true});
  const std::vector<int64_t> lengths{3, 0, 5, 1};
  const Tensor x = numbers({4, 5, 6}, 5), spoilt = x.clone();
  for (int64_t row = 0; row < 4; ++row) spoilt[row].slice(0, lengths[size_t(row)]).fill_(NAN);
  const auto run = [&](const Tensor& input) {
    const RecurrentOutput got = net->run(input, torch::tensor(lengths), {}, {});
    std::vector<Tensor> all{got.outputs};
    for (const Tensor& gradient :
         torch::autograd::grad({got.outputs.square().sum()}, net->parameters()))
      all.push_back(gradient);
    return all;
  };
  const std::vector<Tensor> clean = run(x), same = run(spoilt);
  for (size_t i = 0; i < clean.size(); ++i) EXPECT_TRUE(clean[i].equal(same[i])) << i;
  for (int64_t row = 0; row < 4; ++row)
    EXPECT_EQ(clean[0][row].slice(0, lengths[size_t(row)]).abs().sum().item<double>(), 0);
}

TEST_P(FusedCells, SameBitsAtAnyNumberOfThreads) {
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < 190; ++row) lengths.push_back(row * 7 % 14);
  const Call call{{GetParam(), 33, 40, 2, true, 0.2}, 190, 13, lengths};  // 1,200 entries: 2 blocks
  const std::vector<Tensor> one = everything(call);
  for (const int64_t threads : {2, 3}) {
    set_threads(threads);
    const std::vector<Tensor> more = everything(call);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].equal(more[i])) << i;
  }
  set_threads(1);
}

TEST_P(FusedCells, GradientOfTheGradientGoesThroughLibTorch) {
  const auto second = [&] {
    const auto net = network({GetParam(), 4, 9, 1, true});
    const Tensor x = numbers({3, 5, 4}, 5).requires_grad_();
    const RecurrentState start = start_of(*net, 3);
    const RecurrentOutput got = net->run(x, torch::tensor({5, 2, 4}), start, {});
    const Tensor loss = got.outputs.pow(3).sum() + got.state.hidden[1].sin().sum();
    std::vector<Tensor> leaves = net->parameters();
    leaves.push_back(x), leaves.push_back(start.hidden[0]);
    const auto first = torch::autograd::grad({loss}, leaves, {}, /*retain_graph=*/true,
                                             /*create_graph=*/true);
    Tensor sum = at::zeros({});
    for (const Tensor& gradient : first) sum = sum + gradient.square().sum();
    return torch::autograd::grad({sum}, leaves, {}, false, false, /*allow_unused=*/true);
  };
  const std::vector<Tensor> fast = second();
  const ReadableOnly readable;
  EXPECT_LT(worst(fast, second()), 1e-4);
}

TEST_P(FusedCells, BackwardMayRunTwice) {
  const auto net = network({GetParam(), 4, 9, 1, true});
  const Tensor loss = net->run(numbers({3, 5, 4}, 5), {}, {}, {}).outputs.square().sum();
  const auto one = torch::autograd::grad({loss}, net->parameters(), {}, /*retain_graph=*/true);
  const auto two = torch::autograd::grad({loss}, net->parameters());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].equal(two[i])) << i;
}

TEST_P(FusedCells, EmptyBatchesAreNoTrouble) {
  const auto net = network({GetParam(), 4, 9, 2, true});
  EXPECT_EQ(net->run(at::zeros({0, 5, 4}), {}, {}, {}).outputs.sizes(),
            (std::vector<int64_t>{0, 5, 18}));
  const RecurrentOutput none = net->run(at::zeros({3, 0, 4}), {}, start_of(*net, 3), {});
  EXPECT_EQ(none.outputs.sizes(), (std::vector<int64_t>{3, 0, 18}));
  EXPECT_TRUE(none.state.hidden[2].equal(start_of(*net, 3).hidden[2]));
}

TEST_P(FusedCells, AnyLayoutOfTheInput) {
  const auto net = network({GetParam(), 4, 9});
  const Tensor x = numbers({3, 5, 4}, 5), turned = x.transpose(0, 1).contiguous().transpose(0, 1);
  for (const Tensor& lengths : {Tensor(), torch::tensor({5, 2, 4})})
    EXPECT_TRUE(
        net->run(x, lengths, {}, {}).outputs.equal(net->run(turned, lengths, {}, {}).outputs));
}

TEST(RecurrentFused, RefusesWhatDoesNotFit) {
  const auto net = network({"gru", 4, 9});
  const auto run = [&](const Tensor& x, const Tensor& lengths) {
    return [=] { net->run(x, lengths, {}, {}); };
  };
  const Tensor x = at::zeros({2, 3, 4});
  expect_error(ErrorKind::Internal, {"4 inputs", "[2, 3, 5]"}, run(at::zeros({2, 3, 5}), {}));
  expect_error(ErrorKind::Internal, {"4 steps", "batch of 3"}, run(x, torch::tensor({1, 4})));
  expect_error(ErrorKind::Internal, {"-1 steps"}, run(x, torch::tensor({-1, 3})));
  expect_error(ErrorKind::Internal, {"2 sequences", "[3]"}, run(x, torch::tensor({1, 2, 3})));
}

}  // namespace
}  // namespace fovea::recurrent_fused_test
