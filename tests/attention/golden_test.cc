// The numbers of tests/golden/attention.py, which computes the same in PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include "fovea/attention/attend.h"
#include "fovea/attention/multi_head.h"
#include "fovea/base/json.h"
#include "fovea/tensor/torch.h"

namespace fovea::golden_test {
namespace {

constexpr double kTolerance = 1e-10;

const Json& golden() {
  static const Json file = read_json_file(FOVEA_TEST_FILES "/golden/attention.json");
  return file;
}

at::Tensor tensor_of(const Json& packed) {
  const auto data = packed.at("data").get<std::vector<double>>();
  return at::tensor(data, at::kDouble).view(packed.at("shape").get<std::vector<int64_t>>()).clone();
}

using Leaves = std::map<std::string, at::Tensor>;

Leaves inputs_of(const Json& c) {
  Leaves leaves;
  for (const auto& [name, value] : c.at("inputs").items())
    leaves[name] = tensor_of(value).requires_grad_();
  return leaves;
}

/// Puts the case's parameters into the module, and among the leaves.
void load(torch::nn::Module& module, const Json& c, Leaves& leaves) {
  module.to(at::kDouble);
  torch::NoGradGuard no_gradient;
  const auto parameters = module.named_parameters();
  ASSERT_EQ(parameters.size(), c.at("parameters").size());
  for (const auto& [name, value] : c.at("parameters").items()) {
    const auto* parameter = parameters.find(name);
    ASSERT_NE(parameter, nullptr) << "no parameter " << name;
    const auto expected = tensor_of(value);
    ASSERT_EQ(parameter->sizes(), expected.sizes()) << name;
    parameter->data().copy_(expected);
    leaves[name] = *parameter;
  }
}

void expect_near(const at::Tensor& found, const Json& expected, const std::string& what) {
  const auto reference = tensor_of(expected).view_as(found);
  EXPECT_LT((found - reference).abs().max().item<double>(), kTolerance) << what;
}

void compare(const Attended& out, const Json& c, const Leaves& leaves) {
  const auto weight_shape = out.weights.sizes(), context_shape = out.context.sizes();
  expect_near(out.weights, c.at("weights"), "weights");
  expect_near(out.context, c.at("context"), "context");
  const auto loss =
      (out.context * tensor_of(c.at("context_coefficients")).view(context_shape)).sum() +
      (out.weights * tensor_of(c.at("weight_coefficients")).view(weight_shape)).sum();
  for (const auto& [name, expected] : c.at("gradients").items()) {
    const auto gradient =
        torch::autograd::grad({loss}, {leaves.at(name)}, {}, true, false, true)[0];
    expect_near(gradient.defined() ? gradient : at::zeros_like(leaves.at(name)), expected,
                "gradient of " + name);
  }
}

KeepMask mask_of(const Json& c) {
  return KeepMask::from_lengths(at::tensor(c.at("lengths").get<std::vector<int64_t>>(), at::kLong),
                                5);
}

ScoreOptions score_options(const Json& c, const Leaves& leaves) {
  ScoreOptions options;
  options.name = c.value("score", "dot");
  options.query_size = leaves.at("query").size(-1);
  options.key_size = leaves.at("keys").size(-1);
  options.hidden_size = c.at("hidden_size");
  options.maximum_length = c.value("maximum_length", 1);
  options.filters = c.value("filters", 1);
  options.kernel_width = c.value("kernel_width", 1);
  return options;
}

int count_cases(const std::string& kind) {
  int count = 0;
  for (const auto& c : golden().at("cases")) count += c.at("kind") == kind;
  return count;
}

TEST(AttentionGolden, EveryScoreAndNormaliser) {
  const auto of_papers = std::ranges::count_if(
      score_table(), [](const ScoreEntry& entry) { return !entry.paper.empty(); });
  EXPECT_GE(of_papers, 7);
  EXPECT_GE(count_cases("score"), of_papers + 3) << "a score of a paper is held against PyTorch";
  for (const auto& c : golden().at("cases")) {
    if (c.at("kind") != "score") continue;
    SCOPED_TRACE(c.at("score").get<std::string>() + " " + c.at("normaliser").get<std::string>());
    auto leaves = inputs_of(c);
    const auto score = make_score(score_options(c, leaves), Random(1));
    load(*score, c, leaves);
    AttendInput in;
    in.query = leaves["query"];
    in.memory = remember(*score, leaves["keys"], leaves["values"], mask_of(c));
    in.score = score.get();
    in.normaliser.name = c.at("normaliser");
    in.previous_weights = leaves["previous"].detach().unsqueeze(1);
    compare(attend(in), c, leaves);
  }
}

TEST(AttentionGolden, LocalP) {
  EXPECT_GE(count_cases("local-p"), 1);
  for (const auto& c : golden().at("cases")) {
    if (c.at("kind") != "local-p") continue;
    auto leaves = inputs_of(c);
    const auto score = make_score(score_options(c, leaves), Random(1));
    AlignmentOptions options{"local-p", c.at("half_width"), leaves["query"].size(-1),
                             c.at("hidden_size")};
    const auto alignment = make_alignment(options, Random(1));
    load(*alignment, c, leaves);
    AttendInput in;
    in.query = leaves["query"];
    in.memory = remember(*score, leaves["keys"], leaves["values"], mask_of(c));
    in.score = score.get();
    in.alignment = alignment.get();
    compare(attend(in), c, leaves);
  }
}

TEST(AttentionGolden, MultiHeadEqualsPyTorchs) {
  EXPECT_GE(count_cases("multi-head"), 2);
  for (const auto& c : golden().at("cases")) {
    if (c.at("kind") != "multi-head") continue;
    const bool causal = c.at("causal");
    SCOPED_TRACE(causal ? "causal self-attention" : "padded cross-attention");
    auto leaves = inputs_of(c);
    if (causal) leaves["keys"] = leaves["values"] = leaves["query"];
    MultiHeadOptions options;
    options.width = c.at("width"), options.heads = c.at("heads");
    MultiHeadAttention module(options, Random(1));
    load(module, c, leaves);
    MultiHeadInput in;
    in.query = leaves["query"];
    const auto mask = causal ? KeepMask::causal(in.query.size(1), in.query.size(1)) : mask_of(c);
    in.memory = module.remember(leaves["keys"], leaves["values"], mask);
    compare(module.forward(in), c, leaves);
  }
}

}  // namespace
}  // namespace fovea::golden_test
