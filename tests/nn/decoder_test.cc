// The decoder's kernels beside its readable steps, in float32.
#include "fovea/nn/decoder/decoder.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "tests/nn/testing.h"
#include "tests/support/expect_error.h"

namespace fovea::decoder_test {
namespace {

using at::Tensor;
using testing::expect_error;

constexpr int64_t kEmbedding = 5, kMemory = 7;

Tensor numbers(at::IntArrayRef shape, uint64_t seed) {
  return Random(seed).normal_tensor(shape, 0, 1, at::TensorOptions(at::kFloat));
}

struct Call {
  std::string cell, order, score;
  int64_t hidden = 9, batch = 4, steps = 3, keys = 6;
  std::string readout = "tanh", readout_from = "new";
  bool masked = true, bias = false;

  std::string name() const {
    return concat(cell, ", ", order, ", ", score, ", ", hidden, ", ", batch, " x ", steps,
                  ", keys ", keys, ", ", readout, " from ", readout_from, masked ? ", masked" : "");
  }
};

std::shared_ptr<Decoder> decoder_of(const Call& call) {
  DecoderOptions options;
  options.recurrent = {call.cell, kEmbedding, call.hidden, 1, false, 0.0};
  options.order = call.order;
  options.memory_size = call.score == "dot" || call.score == "scaled-dot" ? call.hidden : kMemory;
  options.readout = call.readout, options.readout_from = call.readout_from;
  options.readout_size = 6;
  options.score.name = call.score, options.score.hidden_size = 11, options.score.bias = call.bias;
  return testing::stirred(std::make_shared<Decoder>(options), Random(3), Random(4), 0.1);
}

/// The readouts, and the gradients of everything that they depend on.
std::vector<Tensor> everything(const Call& call) {
  const auto decoder = decoder_of(call);
  const int64_t width = call.score == "dot" || call.score == "scaled-dot" ? call.hidden : kMemory;
  const Tensor x = numbers({call.batch, call.steps, kEmbedding}, 5).requires_grad_();
  const Tensor encoded = numbers({call.batch, call.keys, width}, 6).requires_grad_();
  RecurrentState start{{numbers({call.batch, call.hidden}, 7).requires_grad_()}, {}};
  if (call.cell == "lstm") start.cell = {numbers({call.batch, call.hidden}, 8).requires_grad_()};
  KeepMask mask;
  if (call.masked) {  // the last row sees nothing, if there are several
    const Tensor lengths = at::arange(call.batch, 0, -1).clamp_max(call.keys);
    if (call.batch > 1) lengths[call.batch - 1] = 0;
    mask = KeepMask::from_lengths(lengths, call.keys);
  }
  const DecoderSource source = decoder->look_at(encoded, mask, {});
  const DecoderRun run = decoder->run(x, decoder->start(start, source), source, {});
  std::vector<Tensor> results{run.readouts}, leaves = decoder->parameters();
  leaves.insert(leaves.end(), {x, encoded, start.hidden[0]});
  if (call.cell == "lstm") leaves.push_back(start.cell[0]);
  const Tensor loss = (run.readouts * numbers(run.readouts.sizes(), 9)).sum();
  for (const Tensor& gradient : torch::autograd::grad({loss}, leaves, {}, false, false, true))
    results.push_back(gradient);
  return results;
}

void expect_like_the_readable(const Call& call) {
  SCOPED_TRACE(call.name());
  const std::vector<Tensor> fast = everything(call);
  const ReadableOnly readable;
  const std::vector<Tensor> slow = everything(call);
  ASSERT_EQ(fast.size(), slow.size());
  for (size_t i = 0; i < fast.size(); ++i) {
    const Tensor a = fast[i].defined() ? fast[i] : at::zeros_like(slow[i]);
    const Tensor b = slow[i].defined() ? slow[i] : at::zeros_like(fast[i]);
    const double scale = std::max(1.0, b.abs().max().item<double>());
    EXPECT_LT((a - b).abs().max().item<double>() / scale, 1e-5) << i;
  }
}

TEST(Decoder, KernelsEqualTheReadableSteps) {
  for (const std::string cell : {"rnn", "gru", "lstm"})
    for (const std::string order : {"luong", "bahdanau"})
      for (const std::string score : {"additive", "general", "dot", "scaled-dot"}) {
        expect_like_the_readable({cell, order, score});
        expect_like_the_readable({cell, order, score, 17, 1, 1, 1});
        expect_like_the_readable({cell, order, score, 32, 37, 4, 19});
        expect_like_the_readable({cell, order, score, 8, 3, 5, 4, "maxout", "new", false});
      }
}

TEST(Decoder, KernelsTakeEveryReadout) {
  for (const std::string readout : {"tanh", "maxout", "linear"})
    for (const std::string from : {"new", "previous"})
      expect_like_the_readable(
          {"gru", "bahdanau", "additive", 9, 4, 3, 6, readout, from, true, /*bias=*/true});
}

TEST(Decoder, WithoutGradientsTheReadoutsAreTheSame) {
  for (const std::string order : {"luong", "bahdanau"}) {
    const Call call{"lstm", order, "additive"};
    const Tensor with = everything(call)[0];
    const auto decoder = decoder_of(call);
    torch::NoGradGuard no_gradients;
    const Tensor lengths = torch::tensor({4, 3, 2, 0});
    const DecoderSource source =
        decoder->look_at(numbers({4, 6, kMemory}, 6), KeepMask::from_lengths(lengths, 6), {});
    const RecurrentState start{{numbers({4, 9}, 7)}, {numbers({4, 9}, 8)}};
    EXPECT_TRUE(with.equal(
        decoder->run(numbers({4, 3, kEmbedding}, 5), decoder->start(start, source), source, {})
            .readouts));
  }
}

TEST(Decoder, SameBitsAtAnyNumberOfThreads) {
  for (const std::string order : {"luong", "bahdanau"}) {
    const Call call{"gru", order, "additive", 20, 130, 9, 12};  // more than one block of entries
    const std::vector<Tensor> one = everything(call);
    for (const int64_t threads : {2, 3}) {
      set_threads(threads);
      const std::vector<Tensor> more = everything(call);
      for (size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(one[i].defined() ? one[i].equal(more[i]) : !more[i].defined()) << i;
    }
    set_threads(1);
  }
}

TEST(Decoder, GradientsOfFusedGradientsAreRefused) {
  const auto decoder = decoder_of({"gru", "bahdanau", "additive"});
  const DecoderSource source = decoder->look_at(numbers({2, 3, kMemory}, 6), {}, {});
  const DecoderState start = decoder->start({{numbers({2, 9}, 7)}, {}}, source);
  const Tensor loss =
      decoder->run(numbers({2, 3, kEmbedding}, 5), start, source, {}).readouts.sum();
  expect_error(ErrorKind::Unsupported, {"ReadableOnly"}, [&] {
    torch::autograd::grad({loss}, decoder->parameters(), {}, true, /*create_graph=*/true, true);
  });
}

}  // namespace
}  // namespace fovea::decoder_test
