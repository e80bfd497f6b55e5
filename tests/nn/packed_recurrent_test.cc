#include "fovea/nn/recurrent/packed_recurrent.h"

#include <gtest/gtest.h>

#include "fovea/kernels/instruction_set.h"
#include "fovea/nn/recurrent/unrolled_cell.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea::packed_recurrent_test {
namespace {

using at::Tensor;
using kernels::RecurrentCell;

Tensor numbers(at::IntArrayRef sizes, uint64_t seed) {
  return Random(seed).normal_tensor(sizes, 0, 1, at::TensorOptions(at::kFloat));
}

struct Network {
  explicit Network(const std::string& cell) : recurrent({cell, 5, 19, 2}) {
    recurrent.initialise(Random(1));
    const bool lstm = cell == "lstm";
    for (uint64_t layer = 0; layer < 2; ++layer) {
      state.hidden.push_back(numbers({37, 19}, 3 + layer));
      if (lstm) state.cell.push_back(numbers({37, 19}, 5 + layer));
    }
  }
  Recurrent recurrent;
  RecurrentState state;
  Tensor x = numbers({37, 5}, 2);
};

void expect_near(const RecurrentState& some, const RecurrentState& others, double tolerance) {
  for (size_t i = 0; i < some.hidden.size(); ++i)
    EXPECT_TRUE(at::allclose(some.hidden[i], others.hidden[i], tolerance, tolerance)) << i;
  for (size_t i = 0; i < some.cell.size(); ++i)
    EXPECT_TRUE(at::allclose(some.cell[i], others.cell[i], tolerance, tolerance)) << i;
}

TEST(PackedRecurrent, StepsAsTheReadableOne) {
  const torch::NoGradGuard no_gradients;
  for (const std::string cell : {"rnn", "gru", "lstm"}) {
    const Network network(cell);
    expect_near(PackedRecurrent(network.recurrent).step(network.x, network.state),
                network.recurrent.step(network.x, network.state, {}), 1e-5);
  }
}

TEST(PackedRecurrent, LeavesOtherResetGatesToTheReadableOne) {
  const torch::NoGradGuard no_gradients;
  const Network usual("gru");
  RecurrentOptions options{"gru", 5, 19, 2};
  options.reset.before = true;
  Recurrent before(options);
  before.initialise(Random(1));
  const RecurrentState packed = PackedRecurrent(before).step(usual.x, usual.state);
  expect_near(packed, before.step(usual.x, usual.state, {}), 0);
  EXPECT_FALSE(at::allclose(packed.hidden[0],
                            usual.recurrent.step(usual.x, usual.state, {}).hidden[0], 1e-3, 1e-3));
}

/// A step whose factors are rounded, from cell_forward().
RecurrentState rounded_step(const Network& network, RecurrentCell cell) {
  const auto near = [](const Tensor& t) { return t.to(at::kBFloat16).to(at::kFloat); };
  const auto parameters = network.recurrent.named_parameters();
  RecurrentState next;
  Tensor input = network.x;
  for (size_t i = 0; i < 2; ++i) {
    const auto own = [&](const char* name) { return parameters[name + std::to_string(i)]; };
    const CellState before{network.state.hidden[i],
                           network.state.cell.empty() ? Tensor() : network.state.cell[i]};
    const CellProducts products{near(input).mm(near(own("weight_ih_l")).t()),
                                near(before.hidden).mm(near(own("weight_hh_l")).t())};
    const CellState after =
        cell_forward(cell, products, before, own("bias_ih_l"), own("bias_hh_l")).state;
    next.hidden.push_back(input = after.hidden);
    if (after.cell.defined()) next.cell.push_back(after.cell);
  }
  return next;
}

TEST(PackedRecurrent, InAScopeOfBf16FactorsAreRounded) {
  if (!kernels::multiplies_bf16()) GTEST_SKIP() << "no AVX-512 BF16";
  const torch::NoGradGuard no_gradients;
  for (const auto& [name, cell] : {std::pair("rnn", RecurrentCell::Rnn),
                                   {"gru", RecurrentCell::Gru},
                                   {"lstm", RecurrentCell::Lstm}}) {
    SCOPED_TRACE(name);
    const Network network(name);
    const PrecisionScope scope(Precision::BFloat16, at::kCPU);
    const PackedRecurrent packed(network.recurrent);
    const RecurrentState after = packed.step(network.x, network.state);
    expect_near(after, rounded_step(network, cell), 1e-3);  // inputs of layer 2 round either way
    set_threads(2);
    EXPECT_TRUE(packed.step(network.x, network.state).hidden[1].equal(after.hidden[1]));
    set_threads(1);
  }
}

}  // namespace
}  // namespace fovea::packed_recurrent_test
