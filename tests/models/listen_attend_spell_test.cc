// What the speech model must do: with every score, normaliser and shape of its encoder, and held
// against PyTorch.
#include "fovea/models/listen_attend_spell.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "tests/models/contract.h"
#include "tests/models/sequence_contract.h"
#include "tests/models/speech_batch.h"
#include "tests/support/expect_error.h"

namespace fovea::listen_attend_spell_test {
namespace {

using namespace testing;  // contract.h, sequence_contract.h

struct Case {
  std::string name;
  std::function<void(ListenAttendSpellOptions&)> change;
};

const Case kCases[] = {
    {"location_aware", [](auto&) {}},
    {"content", [](auto& o) { o.score.name = "additive"; }},
    {"dot", [](auto& o) { o.score.name = "dot"; }},
    {"smoothing", [](auto& o) { o.normaliser.name = "smoothing"; }},
    {"sharpening", [](auto& o) { o.normaliser.name = "temperature"; }},
    {"top_k",
     [](auto& o) {
       o.normaliser = {"top-k", 0.5, 3};
     }},
    {"windowing",
     [](auto& o) {
       o.alignment.name = "median";
       o.alignment.half_width = 3;
     }},
    {"plain", [](auto& o) { o.pyramid = 0; }},
    {"stacked",
     [](auto& o) {
       o.pyramid = 0;
       o.stack = 3;
     }},
    {"lstm", [](auto& o) { o.cell = "lstm"; }},
    {"two_decoder_layers", [](auto& o) { o.decoder_layers = 2; }},
    {"ctc", [](auto& o) { o.ctc_weight = 0.3; }},
    {"chorowski",
     [](auto& o) {
       o.decoder = "chorowski";
       o.reset = "before";
     }},
    {"luong",
     [](auto& o) {
       o.decoder = "luong";
       o.score.name = "general";
       o.readout = "tanh";
     }},
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class SpeechContract : public ::testing::TestWithParam<Case> {
 protected:
  /// Fresh weights are small: larger ones tell paths apart.
  std::shared_ptr<ListenAttendSpell> fresh(uint64_t seed = 1, SearchOptions search = {},
                                           double scale = 2) const {
    ListenAttendSpellOptions options = small_speech_model();
    GetParam().change(options);
    return initialised(std::make_shared<ListenAttendSpell>(options, search, speech_shape()), seed,
                       scale);
  }
};

TEST_P(SpeechContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(speech_batch(3), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(SpeechContract, OverfitsEightExamples) {
  auto model = fresh(1, {}, 1);
  const Batch rows = speech_batch(8);
  expect_overfits(*model, rows, {0.3, 0.02, 100},
                  [&] { return model->negative_log_likelihood(rows).first; });
}

TEST_P(SpeechContract, ReplayOfWhatWasFoundHasItsProbability) {
  expect_found_as_replayed(speech_batch(5),
                           [&](const SearchOptions& search) { return fresh(2, search); });
}

TEST_P(SpeechContract, RowsAndPaddingDoNotMatter) {
  for (const std::string method : {"greedy", "sample"}) {
    SearchOptions search;
    search.method = method;
    SCOPED_TRACE(method);
    const auto model = fresh(3, search);
    const Batch rows = speech_batch(6);
    expect_rows_alone(*model, rows, model->predict(rows));
  }
  auto model = fresh();
  EXPECT_NEAR(loss_of(*model, speech_batch(5, 1)), loss_of(*model, speech_batch(5, 6, 2)), 1e-5);
}

TEST_P(SpeechContract, RecordsOneDistributionOverTheUnitsPerSymbol) {
  const auto model = fresh();
  const Batch rows = speech_batch(4);
  Tap tap;
  model->replay(rows, predictions_of(rows.at("target")), &tap);
  ASSERT_EQ(tap.maps().size(), 1u);
  const AttentionMap& map = tap.map("attention");
  const int64_t factor = model->options().unit_frames();
  const at::Tensor units = (rows.at("source.keep").sum(1) + (factor - 1)).floor_divide(factor);
  EXPECT_EQ(map.weights.size(3), units.max().item<int64_t>());
  const at::Tensor keep =
      torch::arange(map.weights.size(3)).unsqueeze(0) < units.unsqueeze(1);  // [B, K]
  EXPECT_EQ(check_map(map, keep.unsqueeze(1).expand({4, map.weights.size(2), keep.size(1)})), "");
  EXPECT_EQ(map.query_axis, "target");
  EXPECT_EQ(map.key_axis, "source");
  expect_replaced_map_counts(*model, rows, predictions_of(rows.at("target")), "attention");
}

TEST_P(SpeechContract, GradientsReachTheFramesOfTheUnits) {
  const auto model = fresh();
  const Batch rows = speech_batch(4);
  const at::Tensor leaf = expect_leaf(*model, rows, predictions_of(rows.at("target")), "source");
  EXPECT_EQ(leaf.sizes(), rows.at("source").sizes());
  Tap tap;
  model->replay(rows, predictions_of(rows.at("target")), &tap);
  EXPECT_EQ(tap.leaves().at("source").unit_of.back() + 1, tap.map("attention").weights.size(3));
}

TEST_P(SpeechContract, GradientsEqualFiniteDifferences) {
  auto model = fresh(1, {}, 1);
  Batch rows = speech_batch(4);
  rows.tensors["source"] = rows.at("source").to(at::kDouble);
  expect_slopes(*model, rows, 1e-5, {3, 1e-6, 1});
}

INSTANTIATE_TEST_SUITE_P(Models, SpeechContract, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(ListenAttendSpell, EqualsPyTorch) {
  const Json reference = golden("speech");
  const std::vector<std::vector<int64_t>> texts = reference["texts"];
  at::Tensor source = torch::zeros({3, 7, 6}, at::kDouble), keep = torch::zeros({3, 7}, at::kBool);
  at::Tensor target = torch::zeros({3, 4}, at::kLong);
  for (int64_t row = 0; row < 3; ++row) {
    const at::Tensor frames = packed(reference["sounds"][size_t(row)]);
    source[row].narrow(0, 0, frames.size(0)).copy_(frames);
    keep[row].narrow(0, 0, frames.size(0)).fill_(true);
    for (size_t t = 0; t < texts[size_t(row)].size(); ++t)
      target[row][int64_t(t)] = texts[size_t(row)][t];
  }
  const Batch rows{
      {{"source", source}, {"source.keep", keep}, {"target", target}, {"target.keep", target != 0}},
      3};
  for (const Json& own : reference["cases"]) {
    SCOPED_TRACE(own["score"].get<std::string>());
    ListenAttendSpellOptions options;
    options.cell = own["cell"];
    options.layers = own["layers"];
    options.stack = own["stack"];
    options.pyramid = own["pyramid"];
    options.score.name = own["score"];
    options.normaliser.name = own["normaliser"];
    options.decoder = own.value("decoder", options.decoder);
    options.reset = own.value("reset", options.reset);
    options.encoder_hidden = 3;
    options.hidden = 5;
    options.embedding = 4;
    options.readout_size = 3;
    options.score.hidden_size = 4;
    options.score.filters = 2;
    options.score.kernel_width = 3;
    options.dropout = 0;
    SpeechShape shape;
    shape.width = 6;
    shape.pitches = pitches(6);
    shape.symbols = 8;
    ListenAttendSpell model(options, {}, shape);
    expect_golden_sequences(model, rows, own);
  }
}

TEST(ListenAttendSpell, WithoutItsLocationTheHybridScoreIsTheContentScore) {
  ListenAttendSpellOptions hybrid = small_speech_model(), content = small_speech_model();
  content.score.name = "additive";
  content.score.bias = true;
  ListenAttendSpell one(hybrid, {}, speech_shape()), other(content, {}, speech_shape());
  one.initialise(Random(1));
  torch::NoGradGuard no_gradients;
  auto parameters = one.named_parameters();
  parameters["decoder.score.location.weight"].zero_();
  for (auto& item : other.named_parameters()) {
    const std::string name = item.key();
    ASSERT_TRUE(parameters.contains(name)) << name;
    item.value().copy_(parameters[name]);
  }
  EXPECT_EQ(loss_of(one, speech_batch(5)), loss_of(other, speech_batch(5)));
}

TEST(ListenAttendSpell, AugmentationIsForTrainingAlone) {
  ListenAttendSpellOptions options = small_speech_model();
  options.augment.tempo = 0.3;
  options.augment.time_masks = options.augment.band_masks = 1;
  ListenAttendSpell model(options, {}, speech_shape());
  model.initialise(Random(1));
  const Batch rows = speech_batch(6);
  EXPECT_NE(model.loss(rows, {Random(1), 0}).objective.item<double>(),
            model.loss(rows, {Random(2), 0}).objective.item<double>());
  EXPECT_EQ(model.negative_log_likelihood(rows).first, model.negative_log_likelihood(rows).first);
}

TEST(ListenAttendSpell, OutputsAreAsLongAsTheSoundAllows) {
  ListenAttendSpell model(small_speech_model(), {}, speech_shape());
  EXPECT_EQ(model.longest_output(0), 10);
  EXPECT_EQ(model.longest_output(100), 10 + 75);
  model.initialise(Random(1));
  Batch rows = speech_batch(3);
  rows.tensors["source.keep"] = rows.at("source.keep").clone();
  rows.tensors["source.keep"][1].fill_(false);
  for (const auto& outputs : model.predict(rows).outputs)
    for (const int64_t token : outputs[0].tokens) EXPECT_LT(token, kSpeechSymbols);
}

TEST(ListenAttendSpell, WhatCannotWorkIsRefused) {
  SpeechShape uneven = speech_shape();
  uneven.pitches = pitches(4);
  expect_error(ErrorKind::InvalidArgument, "blocks of 4 bands",
               [&] { ListenAttendSpell(small_speech_model(), {}, uneven); });
  ListenAttendSpellOptions flat = small_speech_model();
  flat.pyramid = 2;
  expect_error(ErrorKind::InvalidArgument, "model.pyramid=2",
               [&] { ListenAttendSpell(flat, {}, speech_shape()); });
}

}  // namespace
}  // namespace fovea::listen_attend_spell_test
