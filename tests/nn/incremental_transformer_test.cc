// The incremental decoder on its fast path against TransformerDecoder::step(), row by row of a
// search that repeats, drops and reorders rows.
#include "fovea/nn/transformer/incremental_transformer.h"

#include <gtest/gtest.h>

#include "fovea/base/text.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "tests/nn/testing.h"

namespace fovea::incremental_transformer_test {
namespace {

using namespace testing;
using at::Tensor;

constexpr int64_t kWidth = 24;

struct Searched {
  bool fused = false;
  std::vector<Tensor> outputs;  // of each step [R, D]
};

Tensor some(at::IntArrayRef sizes, const std::string& name) {
  return Random(3).split(name).normal_tensor(sizes, 0, 1, at::kFloat);
}

std::shared_ptr<TransformerDecoder> decoder_of(const TransformerLayerOptions& options) {
  auto decoder =
      stirred(std::make_shared<TransformerDecoder>(options, 2), Random(1), Random(3), 0.3);
  decoder->eval();
  return decoder;
}

Searched search(const TransformerDecoder& decoder, bool masked = true) {
  torch::NoGradGuard no_gradients;
  const KeepMask mask = masked ? KeepMask::from_keep(growing_sources()) : KeepMask::all();
  IncrementalTransformerDecoder incremental(
      decoder, decoder.look_at(some({kSources, kSourceLength, kWidth}, "source"), mask));
  Searched found;
  found.fused = incremental.is_fused();
  follow_search(incremental, [&](size_t t, int64_t rows) {
    found.outputs.push_back(incremental.step(some({rows, kWidth}, concat("x", t)), int64_t(t)));
  });
  return found;
}

void expect_equal(const Searched& fused, const Searched& readable) {
  EXPECT_TRUE(fused.fused);
  EXPECT_FALSE(readable.fused);
  for (size_t t = 0; t < fused.outputs.size(); ++t)
    EXPECT_TRUE(at::allclose(fused.outputs[t], readable.outputs[t], 1e-4, 2e-5)) << "step " << t;
}

Searched readable_search(const TransformerDecoder& decoder, bool masked = true) {
  const ReadableOnly readable;
  return search(decoder, masked);
}

TransformerLayerOptions options_of(const std::string& norm = "pre") {
  TransformerLayerOptions options;
  options.width = kWidth, options.heads = 4, options.feed_forward = 37, options.norm = norm;
  return options;
}

TEST(IncrementalTransformerDecoder, EqualsTheReadableDecoder) {
  for (const std::string norm : {"pre", "post"})
    for (const std::string activation : {"relu", "gelu"})
      for (const int64_t key_heads : {0, 2, 1}) {
        TransformerLayerOptions options = options_of(norm);
        options.activation = activation, options.key_heads = key_heads;
        const auto decoder = decoder_of(options);
        SCOPED_TRACE(concat(norm, " ", activation, " ", key_heads));
        for (const bool masked : {true, false})
          expect_equal(search(*decoder, masked), readable_search(*decoder, masked));
      }
}

TEST(IncrementalTransformerDecoder, HeadsThatWereTakenOutStayOut) {
  const auto decoder = decoder_of(options_of());
  const auto blocks = decoder->head_blocks("own", "source");
  blocks[0].attention->prune({1, 3});
  blocks[3].attention->prune({0});
  expect_equal(search(*decoder), readable_search(*decoder));
}

TEST(IncrementalTransformerDecoder, TakesTheOrdinaryPathWhereItMust) {
  const auto is_fused = [](auto change) {
    TransformerLayerOptions options = options_of();
    change(options);
    return search(*decoder_of(options)).fused;
  };
  EXPECT_TRUE(is_fused([](auto&) {}));
  EXPECT_FALSE(is_fused([](auto& o) { o.window = 2; }));
  EXPECT_FALSE(is_fused([](auto& o) { o.positions = "rotary"; }));
  EXPECT_FALSE(is_fused([](auto& o) { o.positions = "alibi"; }));
  EXPECT_FALSE(is_fused([](auto& o) { o.positions = "relative"; }));
}

TEST(IncrementalTransformerDecoder, ThreadsDoNotChangeABit) {
  const auto decoder = decoder_of(options_of());
  const int64_t before = threads();
  set_threads(1);
  const Searched one = search(*decoder);
  set_threads(2);
  const Searched two = search(*decoder);
  set_threads(before);
  for (size_t t = 0; t < one.outputs.size(); ++t)
    EXPECT_TRUE(one.outputs[t].equal(two.outputs[t])) << "step " << t;
}

}  // namespace
}  // namespace fovea::incremental_transformer_test
