// Seq2seq with every score, alignment, decoder, readout and way of feeding back.
#include "fovea/models/seq2seq.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "tests/models/sequence_contract.h"
#include "tests/support/golden.h"

namespace fovea::seq2seq_test {
namespace {

using namespace testing;

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

/// Two numbers in, one out, three steps.
SequenceShape number_shape() {
  SequenceShape shape;
  shape.source_width = 2, shape.target_width = 1, shape.horizon = 3;
  return shape;
}

std::vector<SequenceCase> cases() {
  std::vector<SequenceCase> all;
  const auto add_shaped = [&](const std::string& name, const SequenceShape& shape, auto change) {
    Seq2SeqOptions options = small();
    change(options);
    SequenceCase one{name, [=](const SearchOptions& search) {
                       return std::make_shared<Seq2Seq>(options, search, shape);
                     }};
    if (options.attention != "none") one.maps = {"attention"};
    one.numbers = shape.target_width > 0;
    one.feeds_itself = options.feedback == "own";
    all.push_back(one);
  };
  const auto add = [&](const std::string& name, auto change) {
    add_shaped(name, text_shape(), change);
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
  add("summary", [](Seq2SeqOptions& o) { o.attention = "none", o.readout = "maxout"; });
  add("cho", [](Seq2SeqOptions& o) {
    o.attention = "none", o.bidirectional = false, o.reset = "before", o.summary_gated = true,
    o.bridge = "summary", o.readout = "maxout", o.output_rank = 5;
  });
  add("sutskever", [](Seq2SeqOptions& o) {
    o.attention = "none", o.cell = "lstm", o.layers = 4, o.bidirectional = false, o.bridge = "copy",
    o.summary = false, o.reverse_source = true, o.readout = "state";
  });
  add("demonstration", [](Seq2SeqOptions& o) {
    o.one_hot = true, o.encoder_cell = "lstm", o.encoder_hidden = 8, o.reset = "before",
    o.bridge = "first", o.feedback = "own", o.decoder = "bahdanau", o.readout = "linear",
    o.readout_from = "previous", o.score.name = "additive", o.score.bias = true;
  });
  add("one_hot_taught", [](Seq2SeqOptions& o) { o.one_hot = true; });
  add("lstm_from_gru", [](Seq2SeqOptions& o) { o.cell = "lstm", o.encoder_cell = "gru"; });
  add("reset_before_two_layers", [](Seq2SeqOptions& o) {
    o.reset = "before", o.layers = 2, o.decoder = "bahdanau", o.score.name = "additive";
  });
  add("tied_factored",
      [](Seq2SeqOptions& o) { o.tie_embeddings = true, o.readout = "linear", o.output_rank = 6; });
  add("tied", [](Seq2SeqOptions& o) { o.tie_embeddings = true; });
  add_shaped("numbers", number_shape(), [](Seq2SeqOptions& o) { o.score.name = "additive"; });
  add_shaped("shared", text_shape(true), [](Seq2SeqOptions&) {});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Seq2Seq, SequenceContract, ::testing::ValuesIn(cases()),
                         testing::name_of_case);

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
    Seq2Seq model(options, {}, text_shape());
  };
  EXPECT_THROW(make([](auto& o) { o.hidden = 7; }), Error);
  EXPECT_THROW(make([](auto& o) { o.bridge = "copy"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.bidirectional = false, o.bridge = "backward"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.attention = "none", o.input_feeding = true; }), Error);
  EXPECT_THROW(make([](auto& o) { o.readout_from = "previous"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.normaliser.name = "hard"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.tie_embeddings = true, o.readout = "linear"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.cell = "lstm", o.reset = "before"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.readout = "state"; }), Error) << "attention would not count";
  EXPECT_THROW(make([](auto& o) { o.summary_gated = true; }), Error);
  EXPECT_THROW(make([](auto& o) { o.bridge = "summary"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.one_hot = true, o.tie_embeddings = true; }), Error);
  EXPECT_THROW(
      make([](auto& o) { o.bidirectional = false, o.bridge = "copy", o.encoder_cell = "lstm"; }),
      Error);
}

class ScheduledFeedback : public ::testing::Test {
 protected:
  double loss_of(const std::string& feedback, int64_t step, double k = 50) const {
    Seq2SeqOptions options = small();
    options.feedback = feedback;
    options.scheduled_k = k;
    Seq2Seq model(options, {}, text_shape());
    model.initialise(Random(1));
    return model.loss(text_batch(8), {Random(2), step}).objective.item<double>();
  }
};

TEST_F(ScheduledFeedback, BeginsWithTheTeacher) {
  EXPECT_NEAR(loss_of("scheduled", 0, 1e9), loss_of("teacher", 0), 1e-6);
  EXPECT_NE(loss_of("scheduled", 1000000), loss_of("teacher", 0));
  EXPECT_EQ(loss_of("scheduled", 7), loss_of("scheduled", 7));
}

TEST_F(ScheduledFeedback, GoesOnWithChoicesHoweverLongItLasts) {
  const double late = loss_of("scheduled", 30000);  // exp(600)
  EXPECT_EQ(loss_of("scheduled", 36000), late) << "exp(720) is no double";
  EXPECT_EQ(loss_of("scheduled", int64_t{1} << 60), late);
  EXPECT_NE(loss_of("own", 36000), late) << "that is another model, which is fed its softmax";
}

TEST_F(ScheduledFeedback, TheTeachersShareFalls) {
  for (const double k : {0.5, 1.0, 50.0, 1000.0}) {
    EXPECT_NEAR(scheduled_share(k, 0), k / (k + 1), 1e-12);
    EXPECT_NEAR(scheduled_share(k, int64_t(2 * k)), k / (k + std::exp(int64_t(2 * k) / k)), 1e-12);
    double before = 1;
    for (const double at : {0.0, 1.0, 10.0, 100.0, 709.0, 710.0, 1e6, 1e12}) {
      const double share = scheduled_share(k, int64_t(at * k));
      EXPECT_GE(share, 0);
      EXPECT_LE(share, before) << k << " at " << at;
      before = share;
    }
    EXPECT_EQ(before, 0);
  }
}

}  // namespace
}  // namespace fovea::seq2seq_test
