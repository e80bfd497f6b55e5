// The ways through the layer beside each other; decoder_test.cc has the fused one beside the
// readable steps.
#include "fovea/nn/decoder/attention_decoder.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "fovea/base/error.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea::attention_decoder_test {
namespace {

using at::Tensor;

struct Call {
  std::string cell, score;
  bool bias = false, masked = true;
  int64_t hidden = 9, batch = 4, steps = 3, keys = 6;
  bool states = true, contexts = true;  // which results the loss depends on
  int64_t memory = 9, score_hidden = 11;

  std::string name() const {
    return concat(cell, ", ", score, bias ? " with bias, " : ", ", masked ? "masked, " : "", hidden,
                  ", ", batch, " x ", steps, ", keys ", keys, ", ", states, contexts);
  }
};

constexpr int64_t kInput = 5;

using Run = AttentionDecoderOutput (*)(const RecurrentLayer&, const ScoreFunction&, const Memory&,
                                       const Tensor&, const RecurrentState&);

/// States, contexts, and the gradients of everything that they depend on, on the CPU.
std::vector<Tensor> everything(const Call& call, Run run, at::Device device) {
  uint64_t seed = 0;
  std::vector<Tensor> leaves;
  const auto leaf = [&](at::IntArrayRef shape, double spread) {
    leaves.push_back(Random(++seed)
                         .normal_tensor(shape, 0, spread, at::TensorOptions(at::kFloat))
                         .to(device)
                         .requires_grad_());
    return leaves.back();
  };
  const int64_t gates = call.cell == "rnn" ? 1 : call.cell == "gru" ? 3 : 4, h = call.hidden;
  const RecurrentLayer layer{
      call.cell,
      {leaf({gates * h, kInput + call.memory}, 0.3), leaf({gates * h, h}, 0.3),
       leaf({gates * h}, 0.3), leaf({gates * h}, 0.3)}};
  ScoreOptions options;
  options.name = call.score, options.bias = call.bias, options.hidden_size = call.score_hidden;
  options.query_size = h, options.key_size = call.memory;
  const auto score = make_score(options, Random(99));
  score->to(device);
  for (const Tensor& parameter : score->parameters()) leaves.push_back(parameter);
  KeepMask mask;
  if (call.masked) {  // the last row sees nothing
    const Tensor lengths = at::arange(call.batch, 0, -1).clamp_max(call.keys);
    lengths[call.batch - 1] = 0;
    mask = KeepMask::from_lengths(lengths.to(device), call.keys);
  }
  const Memory memory = remember(*score, leaf({call.batch, call.keys, call.memory}, 1),
                                 leaf({call.batch, call.keys, call.memory}, 1), mask);
  RecurrentState start{{leaf({call.batch, h}, 1)}, {}};
  if (call.cell == "lstm") start.cell = {leaf({call.batch, h}, 1)};
  const AttentionDecoderOutput out =
      run(layer, *score, memory, leaf({call.batch, call.steps, kInput}, 1), start);
  const auto share = [&](const Tensor& x) {
    return (x * Random(77).normal_tensor(x.sizes(), 0, 1, at::TensorOptions(at::kFloat)).to(device))
        .sum();
  };
  Tensor loss = at::zeros({}, at::TensorOptions(device));
  if (call.states) loss = loss + share(out.states);
  if (call.contexts) loss = loss + share(out.contexts);
  std::vector<Tensor> all{out.states, out.contexts};
  for (const Tensor& gradient : torch::autograd::grad({loss}, leaves, {}, false, false, true))
    all.push_back(gradient);
  for (Tensor& tensor : all)
    if (tensor.defined()) tensor = tensor.detach().cpu().to(at::kFloat);
  return all;
}

void expect_equal(const std::vector<Tensor>& some, const std::vector<Tensor>& others,
                  double tolerance) {
  ASSERT_EQ(some.size(), others.size());
  for (size_t i = 0; i < some.size(); ++i) {
    if (!some[i].defined() && !others[i].defined()) continue;
    const Tensor a = some[i].defined() ? some[i] : at::zeros_like(others[i]);
    const Tensor b = others[i].defined() ? others[i] : at::zeros_like(a);
    const double scale = std::max(1.0, b.abs().max().item<double>());
    EXPECT_LT((a - b).abs().max().item<double>() / scale, tolerance) << i;
  }
}

std::vector<Call> calls() {
  std::vector<Call> all;
  for (const std::string cell : {"rnn", "gru", "lstm"}) {
    for (const std::string score : {"additive", "general", "dot", "scaled-dot"}) {
      all.push_back({cell, score});
      all.push_back({cell, score, false, false});
    }
    all.push_back({cell, "additive", true, true, 17, 1, 1, 1});
    all.push_back({cell, "additive", true, true, 32, 37, 8, 19});
    all.push_back({cell, "additive", false, true, 9, 4, 3, 6, true, false});
    all.push_back({cell, "dot", false, true, 9, 4, 3, 6, false, true});
    // whole packs of numbers
    all.push_back({cell, "additive", true, true, 16, 3, 4, 40, true, true, 16, 24});
    all.push_back({cell, "scaled-dot", false, true, 16, 3, 4, 40, true, true, 16});
  }
  return all;
}

TEST(AttentionDecoder, UnrolledEqualsTheKernel) {
  for (const Call& call : calls()) {
    SCOPED_TRACE(call.name());
    expect_equal(everything(call, run_unrolled_attention_decoder, at::kCPU),
                 everything(call, run_attention_decoder, at::kCPU), 1e-5);
  }
}

/// On the GPU by this way, in that precision, beside the CPU's kernel.
void expect_gpu_equal(Run run, Precision precision, double tolerance) {
  std::vector<Call> all = calls();
  if (precision == Precision::Float32)  // more packs than a block has threads
    for (const std::string cell : {"rnn", "gru", "lstm"})
      all.push_back({cell, "additive", true, true, 8, 2, 2, 5, true, true, 9000, 16});
  for (const Call& call : all) {
    SCOPED_TRACE(call.name());
    const std::vector<Tensor> expected = everything(call, run_attention_decoder, at::kCPU);
    const PrecisionScope scope(precision, at::kCUDA);
    expect_equal(everything(call, run, at::kCUDA), expected, tolerance);
  }
}

TEST(AttentionDecoder, GpuEqualsTheKernel) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  expect_gpu_equal(run_unrolled_attention_decoder, Precision::Float32, 1e-4);
  expect_gpu_equal(run_attention_decoder, Precision::Float32, 1e-4);
}

TEST(AttentionDecoder, GpuRoundsFactors) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  expect_gpu_equal(run_attention_decoder, Precision::BFloat16, 5e-2);
}

}  // namespace
}  // namespace fovea::attention_decoder_test
