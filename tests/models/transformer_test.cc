// What the Transformer must do with every norm, kind of position and way of sharing.
#include "fovea/models/transformer.h"

#include <gtest/gtest.h>

#include "fovea/attention/fused.h"
#include "fovea/core/error.h"
#include "tests/models/text_batch.h"
#include "tests/support/golden.h"

namespace fovea {
namespace {

using testing::kSource;
using testing::kTarget;
using testing::largest_difference;
using testing::text_batch;

struct Case {
  std::string name;
  TransformerOptions options;
  bool shared = false;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, auto change) {
    Case one{name, {}};
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

Predictions predictions_of(const at::Tensor& target) {
  Predictions predictions;
  for (int64_t row = 0; row < target.size(0); ++row) {
    const at::Tensor real = target[row].masked_select(target[row] != 0).contiguous();
    predictions.outputs.push_back(
        {{{real.data_ptr<int64_t>(), real.data_ptr<int64_t>() + real.numel()}, 0, ""}});
  }
  return predictions;
}

class TransformerContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<Transformer> fresh(uint64_t seed = 1, SearchOptions search = {}) {
    SequenceShape shape;
    shape.source_symbols = GetParam().shared ? kTarget : kSource;
    shape.target_symbols = kTarget;
    shape.shared_vocabulary = GetParam().shared;
    search.maximum_length = 9;
    auto model = std::make_shared<Transformer>(GetParam().options, search, shape);
    model->initialise(Random(seed));
    return model;
  }
};

TEST_P(TransformerContract, FitsItsSchemaAndSummary) {
  auto model = fresh();
  check_batch(text_batch(4), model->schema());
  int64_t summed = 0;
  for (const auto& layer : model->summary()) summed += layer.parameters;
  EXPECT_EQ(summed, count_parameters(*model));
  EXPECT_TRUE(flat_parameters(*model).equal(flat_parameters(*fresh(1))));
  EXPECT_FALSE(flat_parameters(*model).equal(flat_parameters(*fresh(2))));
}

TEST_P(TransformerContract, OverfitsEightExamples) {
  auto model = fresh();
  const Batch rows = text_batch(8);
  torch::optim::Adam optimiser(model->parameters(), torch::optim::AdamOptions(0.01));
  const auto nats = [&] { return model->negative_log_likelihood(rows).first; };
  const double before = nats();
  for (int step = 0; step < 150; ++step) {
    optimiser.zero_grad();
    model->loss(rows, {Random(1), step}).objective.backward();
    for (const auto& item : model->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      ASSERT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
    }
    optimiser.step();
  }
  EXPECT_LT(nats(), 0.3 * before);
}

TEST_P(TransformerContract, ReplayEqualsPredict) {
  for (const std::string method : {"greedy", "beam"}) {  // beams re-order the kept keys and values
    SearchOptions search;
    search.method = method;
    search.beam = 3;
    search.length_penalty = 0;
    auto model = fresh(1, search);
    const Batch rows = text_batch(20);
    const Predictions predictions = model->predict(rows);
    Tap tap;
    torch::NoGradGuard no_gradients;
    const at::Tensor replayed = model->replay(rows, predictions, &tap);
    for (int64_t row = 0; row < 20; ++row)
      EXPECT_NEAR(replayed[row].sum().item<double>(),
                  predictions.outputs[size_t(row)][0].log_probability, 1e-4)
          << method;
  }
}

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
  torch::NoGradGuard no_gradients;
  const Batch rows = text_batch(6);
  const Predictions predictions = model->predict(rows);
  Tap live, on_demand(Record::OnDemand);
  const at::Tensor readable = model->replay(rows, predictions, &live);
  const at::Tensor fused = model->replay(rows, predictions, &on_demand);
  EXPECT_LT(largest_difference(readable, fused), 1e-5);
  ASSERT_EQ(live.maps().size(), on_demand.maps().size());
  for (size_t i = 0; i < live.maps().size(); ++i) {
    const AttentionMap &left = live.maps()[i], &right = on_demand.maps()[i];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(left.layer, right.layer);
    ASSERT_TRUE(right.source) << left.name;
    EXPECT_LT(largest_difference(left.weights, dense_weights(right)), 1e-6) << left.name;
  }
}

TEST_P(TransformerContract, RecordsAMapPerLayerAndNothingOnPadding) {
  auto model = fresh();
  const Batch rows = text_batch(6);
  Tap tap;
  model->replay(rows, predictions_of(rows.at("target")), &tap);
  const auto& o = GetParam().options;
  const int64_t below = o.decoder_layers > 0 ? o.decoder_layers : o.layers;
  EXPECT_EQ(int64_t(tap.maps().size()), o.layers + 2 * below);
  const at::Tensor sources = rows.at("source.keep");
  for (const AttentionMap& map : tap.maps()) {
    if (map.name == "decoder") continue;
    at::Tensor keep = sources.unsqueeze(1).expand({6, map.weights.size(2), map.weights.size(3)});
    if (map.name == "encoder") keep = keep & sources.unsqueeze(2);
    EXPECT_EQ(check_map(map, keep), "") << map.name << " " << map.layer;
  }
}

TEST_P(TransformerContract, AReplacedMapChangesTheOutput) {
  auto model = fresh();
  const Batch rows = text_batch(5);
  const Predictions right = predictions_of(rows.at("target"));
  for (const std::string name : {"encoder", "decoder", "attention"}) {
    Tap plain, tap;
    const at::Tensor before = model->replay(rows, right, &plain);
    tap.replace(name, [](const AttentionMap& map) { return map.weights.flip(-1) * 3; });
    EXPECT_GT(largest_difference(model->replay(rows, right, &tap), before), 1e-5) << name;
  }
}

TEST_P(TransformerContract, GradientsReachTheSourceLeaf) {
  auto model = fresh();
  const Batch rows = text_batch(5);
  Tap tap;
  model->replay(rows, predictions_of(rows.at("target")), &tap).sum().backward();
  ASSERT_EQ(tap.leaves().count("source"), 1u);
  EXPECT_GT(tap.leaves().at("source").values.grad().abs().sum().item<double>(), 0);
}

TEST_P(TransformerContract, RowsAndPaddingDoNotMatter) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = text_batch(6), padded = text_batch(6, 3);
  const double loss = model->loss(rows, {Random(1), 0}).objective.item<double>();
  EXPECT_NEAR(model->loss(padded, {Random(1), 0}).objective.item<double>(), loss, 1e-5);
  const Predictions together = model->predict(rows), wide = model->predict(padded);
  for (int64_t row = 0; row < 6; ++row) {
    Batch alone;
    alone.size = 1;
    for (const auto& [name, tensor] : rows.tensors) alone.tensors[name] = tensor.narrow(0, row, 1);
    const auto& expected = together.outputs[size_t(row)][0];
    EXPECT_EQ(model->predict(alone).outputs[0][0].tokens, expected.tokens);
    EXPECT_EQ(wide.outputs[size_t(row)][0].tokens, expected.tokens);
  }
}

TEST_P(TransformerContract, AnEmptySourceGivesAnEmptyOutput) {
  Batch rows = text_batch(3);
  rows.tensors["source"] = rows.at("source").clone();
  rows.tensors["source"][1].zero_();
  rows.tensors["source.keep"] = rows.at("source") != 0;
  auto model = fresh();
  const Predictions predictions = model->predict(rows);
  EXPECT_TRUE(predictions.outputs[1][0].tokens.empty());
  Tap tap;
  EXPECT_TRUE(model->replay(rows, predictions, &tap).isfinite().all().item<bool>());
  model->loss(rows, {Random(1), 0}).objective.backward();
  for (const auto& item : model->named_parameters())
    EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
}

INSTANTIATE_TEST_SUITE_P(All, TransformerContract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Transformer, DropsTheSameOnBothPaths) {
  TransformerOptions options;
  options.hidden = 8, options.layers = 1, options.heads = 2;
  options.dropout = options.attention_dropout = 0.3;
  SequenceShape shape;
  shape.source_symbols = kSource, shape.target_symbols = kTarget;
  Transformer model(options, {}, shape);
  model.initialise(Random(1));
  const Batch rows = text_batch(6);
  const auto loss = [&] { return model.loss(rows, {Random(7), 0}).objective.item<double>(); };
  const double fused = loss();
  {
    const ReadablePathOnly readable;
    EXPECT_NEAR(loss(), fused, 1e-5);
  }
  EXPECT_GT(std::abs(model.loss(rows, {Random(8), 0}).objective.item<double>() - fused), 1e-4);
}

TEST(Transformer, RefusesWhatCannotWork) {
  const auto make = [](auto change, SearchOptions search = {}) {
    TransformerOptions options;
    options.hidden = 8, options.layers = 1, options.heads = 2;
    change(options);
    SequenceShape shape;
    shape.source_symbols = kSource, shape.target_symbols = kTarget;
    Transformer model(options, search, shape);
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
}  // namespace fovea
