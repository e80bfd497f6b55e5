// The incremental decoder on its fast path against Decoder::step(), row by row of a search that
// repeats, drops and reorders rows.
#include "fovea/nn/decoder/incremental_decoder.h"

#include <gtest/gtest.h>

#include "fovea/base/text.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "tests/nn/testing.h"

namespace fovea::incremental_decoder_test {
namespace {

using namespace testing;
using at::Tensor;

constexpr int64_t kEmbedding = 11, kHidden = 18, kEncoded = 18;

struct Searched {
  bool fused = false;
  std::vector<Tensor> readouts, weights;  // of each step
};

Tensor some(at::IntArrayRef sizes, const std::string& name) {
  return Random(3).split(name).normal_tensor(sizes, 0, 1, at::kFloat);
}

DecoderOptions options_of() {
  DecoderOptions options;
  options.recurrent.input_size = kEmbedding;
  options.recurrent.hidden_size = kHidden;
  options.memory_size = kEncoded;
  options.readout_size = 13;
  options.score.name = "additive";
  options.score.hidden_size = 21;
  return options;
}

std::shared_ptr<Decoder> decoder_of(const DecoderOptions& options) {
  return stirred(std::make_shared<Decoder>(options), Random(1), Random(3), 0.3);
}

Searched search(const Decoder& decoder, const DecoderOptions& options, bool needs_weights = false) {
  torch::NoGradGuard no_gradients;
  const DecoderSource source = decoder.look_at(
      some({kSources, kSourceLength, kEncoded}, "source"), KeepMask::from_keep(growing_sources()),
      options.summary_size > 0 ? some({kSources, kEncoded}, "summary") : Tensor());
  RecurrentState first;
  for (int64_t layer = 0; layer < options.recurrent.layers; ++layer) {
    first.hidden.push_back(some({kSources, kHidden}, concat("hidden", layer)));
    if (options.recurrent.cell == "lstm")
      first.cell.push_back(some({kSources, kHidden}, concat("cell", layer)));
  }
  IncrementalDecoder incremental(decoder, source, decoder.start(first, source), needs_weights);
  Searched found;
  found.fused = incremental.is_fused();
  follow_search(incremental, [&](size_t t, int64_t rows) {
    const DecoderStep now = incremental.step(some({rows, kEmbedding}, concat("x", t)));
    found.readouts.push_back(now.readout);
    found.weights.push_back(now.weights);
  });
  return found;
}

void expect_fused_equals_readable(const DecoderOptions& options) {
  const auto decoder = decoder_of(options);
  const Searched fused = search(*decoder, options);
  const ReadableOnly only;
  const Searched readable = search(*decoder, options);
  EXPECT_TRUE(fused.fused);
  EXPECT_FALSE(readable.fused);
  for (size_t t = 0; t < fused.readouts.size(); ++t)
    EXPECT_TRUE(at::allclose(fused.readouts[t], readable.readouts[t], 1e-4, 1e-5)) << "step " << t;
}

TEST(IncrementalDecoder, EqualsTheReadableDecoder) {
  for (const std::string order : {"luong", "bahdanau", "chorowski"})
    for (const std::string score : {"additive", "dot", "scaled-dot", "general"})
      for (const std::string cell : {"rnn", "gru", "lstm"})
        for (const std::string readout : {"tanh", "maxout", "linear"}) {
          DecoderOptions options = options_of();
          options.order = order, options.score.name = score, options.recurrent.cell = cell;
          options.readout = readout;
          options.recurrent.layers = cell == "gru" ? 2 : 1;
          options.score.bias = readout == "maxout";
          options.input_feeding = order == "luong" && readout == "tanh";
          options.readout_from = order == "bahdanau" && readout == "tanh" ? "previous" : "new";
          SCOPED_TRACE(concat(order, " ", score, " ", cell, " ", readout));
          expect_fused_equals_readable(options);
        }
}

TEST(IncrementalDecoder, EqualsTheReadableDecoderWithoutAttention) {
  for (const int64_t summary : {int64_t{0}, kEncoded}) {
    DecoderOptions options = options_of();
    options.attention = "none";
    options.summary_size = summary;
    expect_fused_equals_readable(options);
  }
}

TEST(IncrementalDecoder, EqualsTheReadableDecoderWithThePapersGru) {
  DecoderOptions options = options_of();
  options.order = "bahdanau";
  options.recurrent.reset.before = true;
  expect_fused_equals_readable(options);
  options = options_of();
  options.attention = "none", options.readout = "state";
  options.summary_size = kEncoded, options.gated_summary = true;
  expect_fused_equals_readable(options);
}

TEST(IncrementalDecoder, TakesTheOrdinaryPathWhereItMust) {
  const auto searched = [](auto change, bool needs_weights = false) {
    DecoderOptions options = options_of();
    change(options);
    return search(*decoder_of(options), options, needs_weights);
  };
  EXPECT_TRUE(searched([](auto&) {}).fused);
  EXPECT_FALSE(searched([](auto& o) { o.score.name = "content"; }).fused);
  EXPECT_FALSE(searched([](auto& o) { o.score.name = "location-aware"; }).fused);
  EXPECT_FALSE(searched([](auto& o) { o.normaliser.name = "sparsemax"; }).fused);
  EXPECT_FALSE(searched([](auto& o) { o.alignment.name = "local-m"; }).fused);
  const Searched weighing = searched([](auto&) {}, /*needs_weights=*/true);
  EXPECT_FALSE(weighing.fused);
  for (const Tensor& weights : weighing.weights) EXPECT_TRUE(weights.defined());
}

TEST(IncrementalDecoder, ThreadsDoNotChangeABit) {
  const DecoderOptions options = options_of();
  const auto decoder = decoder_of(options);
  const int64_t before = threads();
  set_threads(1);
  const Searched one = search(*decoder, options);
  set_threads(2);
  const Searched two = search(*decoder, options);
  set_threads(before);
  for (size_t t = 0; t < one.readouts.size(); ++t)
    EXPECT_TRUE(one.readouts[t].equal(two.readouts[t])) << "step " << t;
}

}  // namespace
}  // namespace fovea::incremental_decoder_test
