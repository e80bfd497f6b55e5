#include "fovea/nn/audio/pyramid.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::pyramid_test {
namespace {

using namespace testing;

std::shared_ptr<Pyramid> fresh(int64_t stack, int64_t pyramid, const std::string& cell = "gru") {
  auto encoder = std::make_shared<Pyramid>(PyramidOptions{cell, 3, 4, 3, stack, pyramid, 0});
  encoder->initialise(Random(1));
  return encoder;
}

at::Tensor numbers(int64_t rows, int64_t length) {
  return Random(2).normal_tensor({rows, length, 3}, 0, 1, at::kFloat);
}

at::Tensor keep_of(const std::vector<int64_t>& lengths, int64_t longest) {
  at::Tensor keep = torch::zeros({int64_t(lengths.size()), longest}, at::kBool);
  for (size_t row = 0; row < lengths.size(); ++row)
    keep[int64_t(row)].narrow(0, 0, lengths[row]).fill_(true);
  return keep;
}

TEST(Pyramid, NeighboursAreJoinedInOrder) {
  const at::Tensor x = torch::arange(10).view({1, 5, 2});
  const at::Tensor pairs = join_neighbours(x, 2);
  EXPECT_EQ(pairs.sizes(), (std::vector<int64_t>{1, 3, 4}));
  EXPECT_TRUE(pairs[0][1].equal(torch::tensor({4, 5, 6, 7}, at::kLong)));
  EXPECT_TRUE(pairs[0][2].equal(torch::tensor({8, 9, 0, 0}, at::kLong))) << "what is missing is 0";
  EXPECT_TRUE(join_neighbours(x, 1).equal(x));
}

TEST(Pyramid, LengthsShrinkByTheFactor) {
  for (const auto& [stack, pyramid] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {1, 1}, {1, 2}, {3, 0}, {2, 2}}) {
    SCOPED_TRACE(concat(stack, " ", pyramid));
    const auto encoder = fresh(stack, pyramid);
    const int64_t factor = stack << pyramid;
    EXPECT_EQ(encoder->factor(), factor);
    const PyramidOutput read = encoder->run(numbers(3, 13), keep_of({13, 4, 1}, 13), nullptr);
    EXPECT_EQ(read.outputs.sizes(), (std::vector<int64_t>{3, (13 + factor - 1) / factor, 8}));
    for (const auto& [row, length] :
         std::vector<std::pair<int64_t, int64_t>>{{0, 13}, {1, 4}, {2, 1}})
      EXPECT_EQ(read.keep[row].sum().item<int64_t>(), (length + factor - 1) / factor);
    EXPECT_EQ(read.outputs.masked_select(~read.keep.unsqueeze(2)).abs().sum().item<float>(), 0);
  }
}

TEST(Pyramid, NeighboursInTheBatchDoNotMatter) {
  const auto encoder = fresh(2, 1);
  torch::NoGradGuard no_gradients;
  const at::Tensor x = numbers(2, 11);
  const PyramidOutput both = encoder->run(x, keep_of({11, 5}, 11), nullptr);
  const PyramidOutput alone =
      encoder->run(x.narrow(0, 1, 1).narrow(1, 0, 5), keep_of({5}, 5), nullptr);
  EXPECT_LT(largest_difference(both.outputs[1].narrow(0, 0, 2), alone.outputs[0]), 1e-6);
  for (size_t direction = 0; direction < 2; ++direction)
    EXPECT_LT(largest_difference(both.state.hidden[direction][1], alone.state.hidden[direction][0]),
              1e-6);
}

TEST(Pyramid, DropoutIsDecidedByItsStream) {
  auto encoder = std::make_shared<Pyramid>(PyramidOptions{"gru", 3, 4, 2, 1, 1, 0.5});
  encoder->initialise(Random(1));
  torch::NoGradGuard no_gradients;
  const Random one(1), two(2);
  const auto run = [&](const Random* random) {
    return encoder->run(numbers(2, 6), keep_of({6, 6}, 6), random).outputs;
  };
  EXPECT_TRUE(run(&one).equal(run(&one)));
  EXPECT_FALSE(run(&one).equal(run(&two)));
  EXPECT_FALSE(run(&one).equal(run(nullptr)));
}

TEST(Pyramid, GradientsEqualFiniteDifferences) {
  for (const std::string cell : {"gru", "lstm"}) {
    auto encoder = fresh(2, 1, cell);
    encoder->to(at::kDouble);
    at::Tensor x = numbers(2, 7).to(at::kDouble).set_requires_grad(true);
    std::vector<at::Tensor> leaves = encoder->parameters();
    leaves.push_back(x);
    const at::Tensor keep = keep_of({7, 3}, 7);
    EXPECT_LT(
        gradient_error([&] { return encoder->run(x, keep, nullptr).outputs.sin().sum(); }, leaves),
        1e-6);
  }
}

TEST(Pyramid, TheFirstLayerReadsNoPairs) {
  expect_error(ErrorKind::InvalidArgument, "model.pyramid=3", [] { fresh(1, 3); });
}

}  // namespace
}  // namespace fovea::pyramid_test
