// The Transformer with every norm, kind of position and way of sharing.
#include "fovea/models/transformer.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/tensor/kernel_path.h"
#include "tests/models/contract.h"
#include "tests/models/sequence_contract.h"

namespace fovea::transformer_test {
namespace {

using namespace testing;

struct Variant {
  std::string name;
  TransformerOptions options;
  bool shared = false;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  const auto add = [&](const std::string& name, auto change) {
    Variant one{name, {}};
    one.options.hidden = 8;
    one.options.layers = 2;
    one.options.heads = 2;
    one.options.feed_forward = 12;
    one.options.dropout = one.options.attention_dropout = 0;
    change(one.options);
    all.push_back(one);
  };
  for (const std::string norm : {"post", "pre"})
    for (const std::string positions : {"sinusoidal", "learned", "rotary", "alibi"})
      add(norm + "_" + positions, [&](auto& o) { o.norm = norm, o.positions = positions; });
  add("gelu", [](auto& o) { o.activation = "gelu"; });
  add("grouped", [](auto& o) { o.heads = 4, o.key_heads = 2; });
  add("window", [](auto& o) { o.window = 2; });
  add("untied", [](auto& o) { o.tie_embeddings = false; });
  add("deep_encoder", [](auto& o) { o.layers = 3, o.decoder_layers = 1; });
  add("shared", [](auto&) {});
  all.back().shared = true;
  return all;
}

std::vector<SequenceCase> cases() {
  std::vector<SequenceCase> all;
  for (const Variant& one : variants()) {
    const TransformerOptions& o = one.options;
    const int64_t below = o.decoder_layers > 0 ? o.decoder_layers : o.layers;
    SequenceCase contract{one.name, [one](const SearchOptions& search) {
                            return std::make_shared<Transformer>(one.options, search,
                                                                 text_shape(one.shared));
                          }};
    contract.maps = {"encoder", "decoder", "attention"};
    contract.layers = size_t(o.layers + 2 * below);
    contract.rate = 0.01;
    all.push_back(contract);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Transformer, SequenceContract, ::testing::ValuesIn(cases()),
                         testing::name_of_case);

class TransformerContract : public SequenceContract {};

TEST_P(TransformerContract, NothingLeaksFromTheFuture) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = text_batch(6);
  const at::Tensor target = rows.at("target");
  const at::Tensor before = model->replay(rows, predictions_of(target), nullptr);
  for (int64_t t = 0; t < target.size(1); ++t) {
    at::Tensor changed = target.clone();
    changed.select(1, t).copy_(at::where(target.select(1, t) > 3, 11 - target.select(1, t),
                                         target.select(1, t)));  // 4 … 7 -> 7 … 4
    const at::Tensor after = model->replay(rows, predictions_of(changed), nullptr);
    const at::Tensor past = (after - before).narrow(1, 0, t).abs();
    EXPECT_LT(past.numel() > 0 ? past.max().item<double>() : 0, 1e-6) << "position " << t;
    if (t + 1 == target.size(1)) continue;
    EXPECT_GT(largest_difference(after, before), 1e-4) << "position " << t;
  }
}

TEST_P(TransformerContract, FusedEqualsReadableAndShowsTheSameWeights) {
  auto model = fresh();
  const Batch rows = text_batch(6);
  testing::expect_fused_equals_readable(*model, rows, predictions_of(rows.at("target")));
}

INSTANTIATE_TEST_SUITE_P(All, TransformerContract, ::testing::ValuesIn(cases()),
                         testing::name_of_case);

TEST(Transformer, DropsTheSameOnBothPaths) {
  TransformerOptions options;
  options.hidden = 8, options.layers = 1, options.heads = 2;
  options.dropout = options.attention_dropout = 0.3;
  Transformer model(options, {}, text_shape());
  model.initialise(Random(1));
  const Batch rows = text_batch(6);
  const auto loss = [&] { return model.loss(rows, {Random(7), 0}).objective.item<double>(); };
  const double fused = loss();
  {
    const ReadableOnly readable;
    EXPECT_NEAR(loss(), fused, 1e-5);
  }
  EXPECT_GT(std::abs(model.loss(rows, {Random(8), 0}).objective.item<double>() - fused), 1e-4);
}

TEST(Transformer, RefusesWhatCannotWork) {
  const auto make = [](auto change, SearchOptions search = {}) {
    TransformerOptions options;
    options.hidden = 8, options.layers = 1, options.heads = 2;
    change(options);
    Transformer model(options, search, text_shape());
    model.initialise(Random(1));
    model.predict(text_batch(3));
  };
  EXPECT_THROW(make([](auto& o) { o.heads = 3; }), Error);
  EXPECT_THROW(make([](auto& o) { o.heads = 4, o.key_heads = 3; }), Error);
  EXPECT_THROW(make([](auto& o) { o.heads = 8, o.positions = "rotary"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.positions = "learned", o.maximum_length = 2; }), Error);
  SearchOptions coverage;
  coverage.coverage_penalty = 0.1;
  EXPECT_THROW(make([](auto&) {}, coverage), Error);
}

}  // namespace
}  // namespace fovea::transformer_test
