// The norm and the two layers of a Transformer against PyTorch: outputs and every gradient, in
// double precision, on the fused and on the readable path.
#include <gtest/gtest.h>

#include <optional>

#include "fovea/nn/ops/layer_norm.h"
#include "fovea/nn/transformer/transformer_layer.h"
#include "fovea/tensor/kernel_path.h"
#include "tests/support/golden.h"

namespace fovea::transformer_golden_test {
namespace {

using namespace testing;

std::vector<at::Tensor> inputs_of(const Json& reference) {
  std::vector<at::Tensor> inputs;
  for (const Json& input : reference["inputs"]) inputs.push_back(packed(input).requires_grad_());
  return inputs;
}

void expect_all(const torch::nn::Module& module, const std::vector<at::Tensor>& inputs,
                const at::Tensor& output, const Json& reference) {
  EXPECT_LT(largest_difference(output, packed(reference["output"])), 1e-12);
  (output * packed(reference["coefficients"])).sum().backward();
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_LT(largest_difference(inputs[i].grad(), packed(reference["input_gradients"][i])), 1e-10)
        << "input " << i;
  for (const auto& item : module.named_parameters())
    EXPECT_LT(
        largest_difference(item.value().grad(), packed(reference["gradients"].at(item.key()))),
        1e-10)
        << item.key();
}

TransformerLayerOptions options_of(const Json& reference) {
  TransformerLayerOptions options;
  options.width = 6;
  options.heads = 2;
  options.feed_forward = 5;
  options.norm = reference["norm"];
  options.activation = reference["activation"];
  return options;
}

KeepMask padding_of(const Json& reference) {
  return KeepMask::from_lengths(tensor_of(reference["lengths"], at::kLong), 4);
}

TEST(LayerNormGolden, AgreesWithPyTorch) {
  const Json reference = golden("transformer")["norm"];
  LayerNorm norm(6, 1e-5);
  set_parameters(norm, reference["parameters"]);
  const auto inputs = inputs_of(reference);
  expect_all(norm, inputs, norm.forward(inputs[0]), reference);
}

class TransformerGolden : public ::testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  void SetUp() override {
    if (std::get<1>(GetParam())) readable_.emplace();
  }
  Json reference(const char* layer) {
    return golden("transformer")[layer][size_t(std::get<0>(GetParam()))];
  }
  std::optional<ReadableOnly> readable_;
};

TEST_P(TransformerGolden, EncoderLayerAgreesWithPyTorch) {
  const Json expected = reference("encoder");
  TransformerEncoderLayer layer(options_of(expected));
  set_parameters(layer, expected["parameters"]);
  const auto inputs = inputs_of(expected);
  expect_all(layer, inputs, layer.forward(inputs[0], padding_of(expected), {}, {}), expected);
}

TEST_P(TransformerGolden, DecoderLayerAgreesWithPyTorch) {
  const Json expected = reference("decoder");
  TransformerDecoderLayer layer(options_of(expected));
  set_parameters(layer, expected["parameters"]);
  const auto inputs = inputs_of(expected);
  TransformerMemory memory = layer.look_at(inputs[1], padding_of(expected));
  expect_all(layer, inputs, layer.forward(inputs[0], 0, memory, false, {}, {}, {}), expected);
}

TEST_P(TransformerGolden, StepsAgreeWithTheWhole) {
  const Json expected = reference("decoder");
  TransformerDecoderLayer layer(options_of(expected));
  set_parameters(layer, expected["parameters"]);
  const auto inputs = inputs_of(expected);
  torch::NoGradGuard no_gradients;
  TransformerMemory memory = layer.look_at(inputs[1], padding_of(expected));
  std::vector<at::Tensor> rows;
  for (int64_t t = 0; t < 3; ++t)
    rows.push_back(layer.forward(inputs[0].narrow(1, t, 1), t, memory, true, {}, {}, {}));
  EXPECT_LT(largest_difference(at::cat(rows, 1), packed(expected["output"])), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Layers, TransformerGolden,
                         ::testing::Combine(::testing::Range(0, 2), ::testing::Bool()));

}  // namespace
}  // namespace fovea::transformer_golden_test
