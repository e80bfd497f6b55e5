#include "fovea/attention/pruned_heads.h"

#include <gtest/gtest.h>
#include "fovea/attention/multi_head.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/torch.h"
#include "tests/attention/cases.h"
#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"

namespace fovea::pruned_heads_test {
namespace {

using namespace testing;

constexpr int64_t kWidth = 12, kSize = 3;  // four heads of three

std::shared_ptr<MultiHeadAttention> made(const std::string& positions = "none",
                                         int64_t key_heads = 0, bool bias = true) {
  MultiHeadOptions options;
  options.width = positions == "rotary" ? 16 : kWidth;
  options.heads = 4;
  options.key_heads = key_heads;
  options.positions = positions;
  options.bias = bias;
  auto module = std::make_shared<MultiHeadAttention>(options, Random(1));
  torch::NoGradGuard no_gradients;
  for (auto& parameter : module->parameters())
    if (parameter.dim() == 1)
      parameter.copy_(Random(3).normal_tensor(parameter.sizes(), 0, 1, at::kFloat));
  return module;
}

/// The same network with the heads' columns of out_proj at 0.
std::shared_ptr<MultiHeadAttention> silenced(const std::shared_ptr<MultiHeadAttention>& whole,
                                             const std::vector<int64_t>& heads) {
  auto copy = std::make_shared<MultiHeadAttention>(whole->options());
  torch::NoGradGuard no_gradients;
  auto from = whole->named_parameters();
  for (auto& item : copy->named_parameters()) item.value().copy_(from[item.key()]);
  for (const int64_t head : heads)
    copy->out_proj->weight.narrow(1, head * copy->head_size(), copy->head_size()).zero_();
  return copy;
}

at::Tensor look(const MultiHeadAttention& module, const at::Tensor& x, const KeepMask& mask,
                Tap* tap = nullptr) {
  MultiHeadInput input;
  input.query = x;
  input.mask = mask;
  input.keep_weights = false;
  input.map = {"self", "word", "word"};
  return module.forward_self(input, tap).attended.context;
}

at::Tensor sequence(const MultiHeadAttention& module) {
  return Random(2).normal_tensor({2, 5, module.options().width}, 0, 1, at::kFloat);
}

const KeepMask kPadded =
    KeepMask::from_lengths(at::tensor({5, 3}, at::kLong), 5) &
    KeepMask::from_queries(at::arange(5).unsqueeze(0) < at::tensor({5, 3}, at::kLong).unsqueeze(1));

TEST(PrunedHeads, EqualsTheNetworkWhoseHeadIsSilent) {
  for (const char* positions : {"none", "rotary", "alibi"})
    for (const KeepMask& mask : {KeepMask::all(), kPadded, KeepMask::causal(5, 5)})
      for (const bool readable : {false, true}) {
        std::optional<ReadableOnly> only;
        if (readable) only.emplace();
        const auto pruned = made(positions);
        const auto reference = silenced(pruned, {0, 2});
        const at::Tensor x = sequence(*pruned);
        pruned->prune({0});
        pruned->prune({2});  // its own number still, not what it has become
        EXPECT_EQ(pruned->heads(), (std::vector<int64_t>{1, 3}));
        EXPECT_LT(distance(look(*pruned, x, mask), look(*reference, x, mask)), 1e-6) << positions;
        Tap tap, whole;  // the readable path
        EXPECT_LT(distance(look(*pruned, x, mask, &tap), look(*reference, x, mask, &whole)), 1e-6);
        EXPECT_LT(distance(tap.map("self").weights, whole.map("self").weights.index_select(
                                                        1, at::tensor({1, 3}, at::kLong))),
                  1e-6)
            << "the heads that are left look where they looked";
      }
}

TEST(PrunedHeads, ParametersShrinkAndGradientsAreThoseOfTheRest) {
  const auto pruned = made();
  const auto reference = silenced(pruned, {1});
  const at::Tensor x = sequence(*pruned);
  look(*pruned, x, kPadded).sum().backward();  // gradients of the old shape must not stay
  pruned->prune({1});
  EXPECT_EQ(pruned->in_proj_weight.sizes(), (std::vector<int64_t>{3 * 9, kWidth}));
  EXPECT_EQ(pruned->in_proj_bias.sizes(), (std::vector<int64_t>{3 * 9}));
  EXPECT_EQ(pruned->out_proj->weight.sizes(), (std::vector<int64_t>{kWidth, 9}));
  EXPECT_TRUE(pruned->named_parameters()["in_proj_weight"].is_same(pruned->in_proj_weight));
  look(*pruned, x, kPadded).square().sum().backward();
  look(*reference, x, kPadded).square().sum().backward();
  EXPECT_TRUE(all_finite(pruned->in_proj_weight.grad()));
  const at::Tensor of_reference = reference->in_proj_weight.grad().view({3, 4, kSize, kWidth});
  EXPECT_LT(distance(pruned->in_proj_weight.grad().view({3, 3, kSize, kWidth}),
                     of_reference.index_select(1, at::tensor({0, 2, 3}, at::kLong))),
            1e-5);
}

TEST(PrunedHeads, WithoutAnyTheBiasIsLeft) {
  for (const bool bias : {true, false}) {
    const auto pruned = made("none", 0, bias);
    const auto reference = silenced(pruned, {0, 1, 2, 3});
    const at::Tensor x = sequence(*pruned);
    pruned->prune({0, 1, 2, 3});
    Tap tap;
    const at::Tensor found = look(*pruned, x, kPadded, &tap);
    EXPECT_LT(distance(found, look(*reference, x, kPadded)), 1e-6);
    EXPECT_EQ(found[1][4].abs().sum().item<float>(), 0) << "a query that sees nothing";
    EXPECT_TRUE(tap.maps().empty());
    MultiHeadInput input;  // a decoder's step goes on with what came before
    input.query = x;
    input.memory = pruned->forward_self(input).memory;
    input.first_position = 5;
    EXPECT_EQ(pruned->forward_self(input).memory.size(), 10);
    if (!bias) continue;
    found.sum().backward();
    EXPECT_TRUE(all_finite(pruned->out_proj->bias.grad()));
  }
}

TEST(PrunedHeads, SharedKeysGoWithAllTheirHeads) {
  const auto pruned = made("none", 2);
  const auto reference = silenced(pruned, {2, 3});
  const at::Tensor x = sequence(*pruned);
  expect_error(ErrorKind::InvalidArgument, {"heads 3 to 4", "together"},
               [&] { pruned->prune({2}); });
  pruned->prune({2, 3});
  EXPECT_EQ(pruned->in_proj_weight.size(0), (2 + 1 + 1) * kSize);
  EXPECT_LT(distance(look(*pruned, x, kPadded), look(*reference, x, kPadded)), 1e-6);
}

TEST(PrunedHeads, OneThatIsNotThereIsNamed) {
  const auto pruned = made();
  expect_error(ErrorKind::InvalidArgument, "head 5", [&] { pruned->prune({4}); });
  pruned->prune({1});
  expect_error(ErrorKind::InvalidArgument, {"head 2", "3 are there"}, [&] { pruned->prune({1}); });
}

TEST(PrunedHeads, TheTextNamesThemAll) {
  const std::string text = "attention:4;encoder.1:2,5;encoder.10:1";
  const std::vector<HeadPlace> places =
      parse_pruned_heads(" encoder.10:1; encoder.1:5, 2;attention:4");
  EXPECT_EQ(places,
            (std::vector<HeadPlace>{
                {"attention", 0, 4}, {"encoder", 1, 2}, {"encoder", 1, 5}, {"encoder", 10, 1}}));
  EXPECT_EQ(pruned_heads_text(places), text);
  EXPECT_TRUE(parse_pruned_heads(" ").empty());
  EXPECT_EQ(pruned_heads_text({}), "");
  for (const char* wrong :
       {"encoder.1", "encoder.1:", "encoder.1:0", "encoder.x:1", ":3", "a:1;;b:2", "encoder.1:1,,2",
        "encoder.0:1", "a:1,1", "a:99999999999999999999"})
    expect_error(ErrorKind::InvalidArgument, "model.pruned_heads",
                 [&] { parse_pruned_heads(wrong); });
}

TEST(PrunedHeads, BlocksLoseTheirsAndRememberThem) {
  const std::vector<HeadBlock> blocks{{"encoder", 1, made()}, {"encoder", 2, made()}};
  prune_heads(blocks, parse_pruned_heads("encoder.2:1,3"));
  prune_heads(blocks, parse_pruned_heads("encoder.1:4;encoder.2:4"));
  EXPECT_EQ(pruned_heads_text(heads_gone(blocks)), "encoder.1:4;encoder.2:1,3,4");
  EXPECT_EQ(pruned_heads_text(heads_there(blocks)), "encoder.1:1,2,3;encoder.2:2");
  expect_error(ErrorKind::InvalidArgument, {"encoder.3", "encoder.1, encoder.2"},
               [&] { prune_heads(blocks, parse_pruned_heads("encoder.3:1")); });
  expect_error(ErrorKind::InvalidArgument, {"encoder.2 has no head 3", "1 of which"},
               [&] { prune_heads(blocks, parse_pruned_heads("encoder.2:3")); });
}

}  // namespace
}  // namespace fovea::pruned_heads_test
