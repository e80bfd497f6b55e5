// What seq2seq must do with every score, alignment, decoder, readout and way of feeding back.
#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/models/seq2seq.h"
#include "tests/models/text_batch.h"
#include "tests/support/golden.h"

namespace fovea {
namespace {

using testing::largest_difference;

using testing::kSource;
using testing::kTarget;
using testing::text_batch;

struct Case {
  std::string name;
  Seq2SeqOptions options;
  bool numbers = false;
  bool shared = false;
};

Seq2SeqOptions small() {
  Seq2SeqOptions options;
  options.hidden = 8;
  options.embedding = 6;
  options.score.hidden_size = 5;
  options.score.maximum_length = 12;
  options.score.filters = 3;
  options.score.kernel_width = 5;
  options.alignment.hidden_size = 4;
  options.alignment.half_width = 2;
  return options;
}

std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, auto change) {
    Case one{name, small()};
    change(one.options);
    all.push_back(one);
  };
  for (const std::string& score : score_names())
    for (const std::string decoder : {"luong", "bahdanau"})
      add(identifier(decoder + "_" + score), [&](Seq2SeqOptions& o) {
        o.score.name = score;
        o.decoder = decoder;
      });
  for (const std::string& alignment : alignment_names())
    for (const bool feeding : {false, true})
      add(identifier("alignment_" + alignment + (feeding ? "_feeding" : "")),
          [&](Seq2SeqOptions& o) {
            o.alignment.name = alignment;
            o.score.name = "general";
            o.input_feeding = feeding;
          });
  for (const std::string& normaliser : normaliser_names())
    if (normaliser != "hard" && normaliser != "gumbel")
      add(identifier("normaliser_" + normaliser), [&](Seq2SeqOptions& o) {
        o.normaliser.name = normaliser;
        o.normaliser.top_k = 2;
      });
  for (const std::string cell : {"rnn", "lstm"})
    add("cell_" + cell, [&](Seq2SeqOptions& o) { o.cell = cell, o.layers = 2; });
  add("bahdanau_paper", [](Seq2SeqOptions& o) {
    o.decoder = "bahdanau", o.readout = "maxout", o.readout_from = "previous",
    o.bridge = "backward", o.score.name = "additive", o.encoder_hidden = 8;
  });
  add("luong_paper", [](Seq2SeqOptions& o) {
    o.cell = "lstm", o.layers = 2, o.bidirectional = false, o.bridge = "copy",
    o.reverse_source = true, o.input_feeding = true, o.score.name = "general",
    o.alignment.name = "local-p";
  });
  add("own", [](Seq2SeqOptions& o) {
    o.feedback = "own", o.decoder = "bahdanau", o.readout = "linear", o.readout_from = "previous",
    o.score.name = "additive";
  });
  add("coverage", [](Seq2SeqOptions& o) { o.coverage = 0.1; });
  add("cho", [](Seq2SeqOptions& o) { o.attention = "none", o.readout = "maxout"; });
  add("sutskever", [](Seq2SeqOptions& o) {
    o.attention = "none", o.cell = "lstm", o.layers = 2, o.bidirectional = false, o.bridge = "copy",
    o.summary = false, o.reverse_source = true, o.readout = "linear";
  });
  add("tied", [](Seq2SeqOptions& o) { o.tie_embeddings = true; });
  add("numbers", [](Seq2SeqOptions& o) { o.score.name = "additive"; });
  all.back().numbers = true;
  add("shared", [](Seq2SeqOptions&) {});
  all.back().shared = true;
  return all;
}

Batch number_batch(int64_t rows) {
  const auto source = Random(6).normal_tensor({rows, 5, 2}, 0, 1, torch::kFloat);
  return {{{"source", source},
           {"source.keep", torch::ones({rows, 5}, torch::kBool)},
           {"target", source.narrow(1, 1, 3).narrow(2, 0, 1).contiguous()},
           {"target.keep", torch::ones({rows, 3}, torch::kBool)}},
          rows};
}

class Seq2SeqContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<Seq2Seq> fresh(uint64_t seed = 1, SearchOptions search = {}) {
    SequenceShape shape;
    if (GetParam().numbers) {
      shape.source_width = 2, shape.target_width = 1, shape.horizon = 3;
    } else {
      shape.source_symbols = GetParam().shared ? kTarget : kSource;
      shape.target_symbols = kTarget;
      shape.shared_vocabulary = GetParam().shared;
    }
    search.maximum_length = 9;
    auto model = std::make_shared<Seq2Seq>(GetParam().options, search, shape);
    model->initialise(Random(seed));
    return model;
  }
  Batch batch(int64_t rows) { return GetParam().numbers ? number_batch(rows) : text_batch(rows); }
  bool attends() { return GetParam().options.attention != "none"; }
};

TEST_P(Seq2SeqContract, FitsItsSchemaAndSummary) {
  auto model = fresh();
  check_batch(batch(4), model->schema());
  int64_t total = 0, summed = 0;
  for (const auto& parameter : model->parameters()) total += parameter.numel();
  for (const auto& layer : model->summary()) summed += layer.parameters;
  EXPECT_EQ(summed, total);
  EXPECT_TRUE(flat_parameters(*model).equal(flat_parameters(*fresh(1))));
  EXPECT_FALSE(flat_parameters(*model).equal(flat_parameters(*fresh(2))));
}

TEST_P(Seq2SeqContract, OverfitsEightExamples) {
  auto model = fresh();
  const Batch rows = batch(8);
  torch::optim::Adam optimiser(model->parameters(), torch::optim::AdamOptions(0.02));
  const double before = model->loss(rows, {Random(1), 0}).objective.item<double>();
  for (int step = 0; step < 150; ++step) {
    optimiser.zero_grad();
    model->loss(rows, {Random(1), step}).objective.backward();
    for (const auto& item : model->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      ASSERT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
    }
    optimiser.step();
  }
  const double after = model->loss(rows, {Random(1), 0}).objective.item<double>();
  EXPECT_LT(after, 0.5 * before);
}

TEST_P(Seq2SeqContract, ReplayEqualsPredict) {
  auto model = fresh();
  const Batch rows = batch(20);
  const Predictions predictions = model->predict(rows);
  Tap tap;
  torch::NoGradGuard no_gradients;
  const at::Tensor replayed = model->replay(rows, predictions, &tap);
  if (GetParam().numbers) {
    EXPECT_LT(largest_difference(replayed, predictions.values), 1e-5);
    return;
  }
  for (int64_t row = 0; row < 20; ++row)
    EXPECT_NEAR(replayed[row].sum().item<double>(),
                predictions.outputs[size_t(row)][0].log_probability, 1e-4);
}

TEST_P(Seq2SeqContract, RecordsOneMapAndNothingOnPadding) {
  auto model = fresh();
  const Batch rows = batch(6);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap);
  ASSERT_EQ(tap.maps().size(), attends() ? 1u : 0u);
  if (!attends()) return;
  const AttentionMap& map = tap.map("attention");
  EXPECT_EQ(map.query_axis, "target");
  EXPECT_EQ(map.key_axis, "source");
  const at::Tensor keep =
      rows.at("source.keep").unsqueeze(1).expand({6, map.weights.size(2), map.weights.size(3)});
  EXPECT_EQ(check_map(map, keep), "");
}

TEST_P(Seq2SeqContract, AReplacedMapChangesTheOutput) {
  if (!attends()) return;
  auto model = fresh();
  const Batch rows = batch(5);
  const Predictions predictions = model->predict(rows);
  Tap plain, tap;
  const at::Tensor before = model->replay(rows, predictions, &plain);
  tap.replace("attention", [](const AttentionMap& map) { return map.weights.flip(-1) * 3; });
  EXPECT_GT(largest_difference(model->replay(rows, predictions, &tap), before), 1e-5);
}

TEST_P(Seq2SeqContract, GradientsReachTheSourceLeaf) {
  auto model = fresh();
  const Batch rows = batch(5);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap).sum().backward();
  ASSERT_EQ(tap.leaves().count("source"), 1u);
  EXPECT_GT(tap.leaves().at("source").values.grad().abs().sum().item<double>(), 0);
}

TEST_P(Seq2SeqContract, RowsAndPaddingDoNotMatter) {
  if (GetParam().numbers) return;
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

TEST_P(Seq2SeqContract, BeamOfOneIsGreedy) {
  if (GetParam().numbers || GetParam().options.feedback == "own") return;
  SearchOptions beam;
  beam.method = "beam";
  beam.beam = 1;
  const Batch rows = text_batch(6);
  const Predictions greedy = fresh()->predict(rows), narrow = fresh(1, beam)->predict(rows);
  for (size_t row = 0; row < 6; ++row)
    EXPECT_EQ(greedy.outputs[row][0].tokens, narrow.outputs[row][0].tokens);
}

TEST_P(Seq2SeqContract, AnEmptySourceGivesAnEmptyOutput) {
  if (GetParam().numbers) return;
  Batch rows = text_batch(3);
  rows.tensors["source"] = rows.at("source").clone();
  rows.tensors["source"][1].zero_();
  rows.tensors["source.keep"] = rows.at("source") != 0;
  auto model = fresh();
  const Predictions predictions = model->predict(rows);
  EXPECT_TRUE(predictions.outputs[1][0].tokens.empty());
  Tap tap;
  EXPECT_TRUE(model->replay(rows, predictions, &tap).isfinite().all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(All, Seq2SeqContract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

/// All steps at once and step by step are two ways of computing one thing.
TEST(Decoder, AllStepsAtOnceEqualStepByStep) {
  for (const std::string& alignment : alignment_names()) {
    if (alignment == "median") continue;
    DecoderOptions options;
    options.recurrent = {"gru", 3, 4, 2, false, 0.3};
    options.memory_size = 6;
    options.readout_size = 5;
    options.dropout = 0.2;
    options.score.name = "additive";
    options.alignment.name = alignment;
    options.alignment.half_width = 2;
    Decoder decoder(options);
    decoder.initialise(Random(3));
    ASSERT_TRUE(decoder.is_parallel());
    const Random random(4);
    const auto draw = [&](const char* name, at::IntArrayRef shape) {
      return random.split(name).normal_tensor(shape, 0, 1, torch::kFloat);
    };
    const auto lengths = torch::tensor({5, 3}, torch::kLong);
    const DecoderSource source =
        decoder.look_at(draw("encoded", {2, 5, 6}), KeepMask::from_lengths(lengths, 5), {});
    const DecoderState start =
        decoder.start({{draw("first", {2, 4}), draw("second", {2, 4})}, {}}, source);
    const DecoderMasks masks = decoder.masks(2, &random);
    const at::Tensor x = draw("x", {2, 4, 3});
    const DecoderRun all = decoder.run(x, start, source, masks);
    DecoderState state = start;
    for (int64_t t = 0; t < 4; ++t) {
      const DecoderStep step = decoder.step(x.select(1, t), state, source, masks);
      EXPECT_LT(largest_difference(step.readout, all.readouts.select(1, t)), 1e-5) << alignment;
      EXPECT_LT(largest_difference(step.weights, all.weights.narrow(2, t, 1)), 1e-5) << alignment;
      state = step.state;
    }
  }
}

TEST(Seq2Seq, RefusesOptionsThatContradictEachOther) {
  const auto make = [](auto change) {
    Seq2SeqOptions options = small();
    change(options);
    SequenceShape shape;
    shape.source_symbols = kSource, shape.target_symbols = kTarget;
    Seq2Seq model(options, {}, shape);
  };
  EXPECT_THROW(make([](auto& o) { o.hidden = 7; }), Error);
  EXPECT_THROW(make([](auto& o) { o.bridge = "copy"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.bidirectional = false, o.bridge = "backward"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.attention = "none", o.input_feeding = true; }), Error);
  EXPECT_THROW(make([](auto& o) { o.readout_from = "previous"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.normaliser.name = "hard"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.tie_embeddings = true, o.readout = "linear"; }), Error);
}

TEST(Seq2Seq, ScheduledFeedbackBeginsWithTheTeacher) {
  Seq2SeqOptions options = small();
  SequenceShape shape;
  shape.source_symbols = kSource, shape.target_symbols = kTarget;
  const Batch rows = text_batch(8);
  const auto loss_of = [&](const std::string& feedback, int64_t step) {
    options.feedback = feedback;
    options.scheduled_k = 50;
    Seq2Seq model(options, {}, shape);
    model.initialise(Random(1));
    return model.loss(rows, {Random(2), step}).objective.item<double>();
  };
  EXPECT_NE(loss_of("scheduled", 1000000), loss_of("teacher", 0));
  EXPECT_EQ(loss_of("scheduled", 7), loss_of("scheduled", 7));
}

}  // namespace
}  // namespace fovea
