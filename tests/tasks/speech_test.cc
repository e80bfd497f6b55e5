// The task `speech` from files to answers.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "fovea/base/base64.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/data/media_input.h"
#include "fovea/data/speech/sound.h"
#include "fovea/data/tokenisers/tokeniser.h"
#include "fovea/tasks/doctor.h"
#include "fovea/tensor/torch.h"
#include "tests/support/exact_share.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::speech_test {
namespace {

#ifdef FOVEA_WITH_ICU

using namespace testing;

fovea::Setup small_setup(const Assignments& more = {}) {
  return setup_of(
      "speech",
      {"data.rows=24", "data.validation_rows=6", "data.test_rows=6", "data.bands=12",
       "data.tokens=words", "model.encoder_hidden=8", "model.hidden=16", "model.embedding=8",
       "model.score_hidden=8", "model.readout_size=8", "training.epochs=1"},
      more);
}

Pipeline trained(const TemporaryFolder& folder, const Assignments& more = {},
                 const std::filesystem::path& data = {}) {
  return trained_pipeline(small_setup(more), folder, data);
}

Sound tone(int64_t rate, double seconds) {
  Sound sound{{}, rate};
  for (int64_t i = 0; i < int64_t(seconds * double(rate)); ++i)
    sound.samples.push_back(
        int16_t(8000 * std::sin(2 * 3.14159265 * 523 * double(i) / double(rate))));
  return sound;
}

/// Of the same network before it learned.
Metrics untrained(const Pipeline& pipeline, const Dataset& rows) {
  const std::unique_ptr<Model> model = pipeline.task().make_model();
  model->initialise(Random(1));
  model->eval();
  return pipeline.task().measure(*model, rows);
}

TEST(Speech, EveryKindOfAttentionTrainsAndIsMeasured) {
  for (const Assignments& kind :
       {Assignments{"model.score=additive"}, Assignments{"model.normaliser=smoothing"},
        Assignments{"model.alignment=median", "model.half_width=20"},
        Assignments{"data.tokens=characters", "data.normalise=training"},
        Assignments{"model.augment.tempo=0.1", "model.augment.time_masks=1"}}) {
    SCOPED_TRACE(kind[0]);
    const TemporaryFolder folder;
    Pipeline pipeline = trained(folder, kind);
    const Splits splits = pipeline.load_data("");
    const Metrics metrics = pipeline.measure(*splits.test);
    EXPECT_NE(metric(metrics, "loss"), metric(untrained(pipeline, *splits.test), "loss"));
    EXPECT_EQ(metric(metrics, "exact_match"), testing::exact_share(pipeline, *splits.test));
    EXPECT_GE(metric(metrics, "word_error_rate"), 1 - metric(metrics, "exact_match"))
        << "who errs, errs in a word at least";
    for (const char* share : {"pointing", "attention_truth"}) {
      EXPECT_GT(metric(metrics, share), 0) << share;
      EXPECT_LT(metric(metrics, share), 1) << share << ": nobody learns it in an epoch";
    }
  }
}

TEST(Speech, ARunSaysWhatItHasLearned) {
  const TemporaryFolder folder;
  Pipeline pipeline =
      trained(folder, {"data.rows=60", "data.longest=3", "training.epochs=40",
                       "training.learning_rate=0.01", "model.dropout=0", "training.batch_size=8"});
  const Splits splits = pipeline.load_data("");
  EXPECT_LT(metric(pipeline.measure(*splits.train), "word_error_rate"), 0.3);
}

TEST(Speech, UtterancesAreRepeatedAndSharpenedWhenARunIsMeasured) {
  const TemporaryFolder folder;
  trained(folder);
  const auto measured = [&](const Assignments& assignments) {
    Pipeline pipeline = Pipeline::load(folder / "run", "cpu", assignments);
    return metric(pipeline.measure(*pipeline.load_data("").test), "loss");
  };
  const double plain = measured({});
  EXPECT_EQ(measured({"decoding.repeat=1"}), plain);
  EXPECT_NE(measured({"decoding.repeat=3"}), plain);
  EXPECT_NE(measured({"decoding.sharpness=3"}), plain);
  EXPECT_NE(measured({"decoding.window=2"}), plain);
  Pipeline pipeline = Pipeline::load(folder / "run");
  const Splits splits = pipeline.load_data("");
  const LengthCurve curve = pipeline.task().measure_by_length(pipeline.model(), *splits.test);
  EXPECT_EQ(curve.metric, "word_error_rate");
  EXPECT_EQ(curve.length, "the same utterance so many times in a row");
  EXPECT_EQ(curve.buckets[0], "1 x");
  EXPECT_EQ(curve.counts[0], 6);
  EXPECT_EQ(curve.values.size(), curve.buckets.size());
}

TEST(Speech, ARunIsHealthy) {
  const TemporaryFolder folder;
  trained(folder);
  for (const Check& check : examine(folder / "run")) EXPECT_EQ(check.problem, "") << check.name;
}

TEST(Speech, ASoundOfAnyRateIsAnsweredAndExplained) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder);
  const Example example = pipeline.parse(sound_input(tone(48000, 0.5)).dump());
  const Explanation explanation = pipeline.explain(example);
  ASSERT_EQ(explanation.maps.size(), 1u);
  EXPECT_EQ(explanation.maps[0].key_axis, "source");
  EXPECT_EQ(explanation.maps[0].keys(), 13u) << "50 frames, four a unit";
  ASSERT_EQ(explanation.media.size(), 1u);
  EXPECT_EQ(explanation.media[0].type, "audio/wav");
  EXPECT_LT(explanation.input.size(), 60u) << "the file is not repeated: " << explanation.input;
  EXPECT_TRUE(pipeline.task().input_schema()["properties"].contains("audio"));
}

TEST(Speech, SilenceIsAnsweredToo) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder);
  const Example silence = pipeline.parse(sound_input({std::vector<int16_t>(4000, 0), 8000}).dump());
  const Example shortest = pipeline.parse(sound_input({{7}, 8000}).dump());
  const std::vector<Example> both{silence, shortest};
  EXPECT_EQ(pipeline.predict(both).size(), 2u);
}

TEST(Speech, WhatIsNoSoundIsRefused) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder);
  expect_error(ErrorKind::BadData, "data:audio/wav;base64",
               [&] { pipeline.parse("{\"audio\": \"/etc/hostname\"}"); });
  expect_error(ErrorKind::BadData, "data:audio/wav;base64", [&] { pipeline.parse("a.wav"); });
  if (!can_read_sounds()) return;
  expect_error(ErrorKind::BadData, "no samples", [&] {
    pipeline.parse(sound_input({{}, 8000}).dump());
  });
  expect_error(ErrorKind::BadData, "data.longest_sound",
               [&] { pipeline.parse(sound_input(tone(8000, 61)).dump()); });
}

TEST(Speech, TranscriptsOfPhonesAreMeasuredInPhones) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  const Sound sound = tone(8000, 0.3);
  write_file(folder / "a.wav", encode_wav(sound.samples, sound.rate));
  const auto table = [&](const std::string& last) {
    std::string rows = "audio\ttranscript\tsplit\n";
    for (int i = 0; i < 8; ++i)
      rows += concat("a.wav\th# sh ix hv eh dcl d y ax-h q ", i % 2 ? "zh" : last, " h#\t",
                     i < 4   ? "train"
                     : i < 6 ? "val"
                             : "test",
                     "\n");
    write_file(folder / "phones.tsv", rows);
    return folder / "phones.tsv";
  };
  const auto names_of = [](const Pipeline& pipeline, const Dataset& rows) {
    std::set<std::string> names;
    for (const Metric& one : pipeline.measure(rows)) names.insert(one.name);
    return names;
  };
  trained(folder, {}, table("aa"));
  const auto rates = [&](const std::string& phones) {
    Pipeline pipeline = Pipeline::load(folder / "run", "cpu", {"decoding.phones=" + phones});
    return names_of(pipeline, *pipeline.load_data("").test);
  };
  for (const char* phones : {"auto", "yes", "folded"}) {
    EXPECT_TRUE(rates(phones).contains("phone_error_rate")) << phones;
    EXPECT_FALSE(rates(phones).contains("word_error_rate")) << phones;
    EXPECT_FALSE(rates(phones).contains("character_error_rate")) << phones;
  }
  EXPECT_TRUE(rates("no").contains("word_error_rate"));
  EXPECT_EQ(read_json_file(folder / "run" / "config.json")["training"]["monitor"][0],
            "phone_error_rate");
  Pipeline folded = Pipeline::load(folder / "run", "cpu", {"decoding.phones=folded"});
  EXPECT_NE(join(folded.task().metric_notes(*folded.load_data("").test)).find("39 phones"),
            std::string::npos);
  const auto tokeniser = Tokeniser::restore(
      {read_json_file(folder / "run" / "assets" / "tokeniser.json"), ""}, "tokeniser.json");
  std::vector<int64_t> ids;
  for (const Token& token : tokeniser->encode("h# ax-h q")) ids.push_back(token.id);
  EXPECT_EQ(tokeniser->decode(ids), "h# ax-h q") << "as it is written";

  const TemporaryFolder other;  // one word is no phone
  std::filesystem::copy(folder / "a.wav", other / "a.wav");
  std::filesystem::copy(table("hello"), other / "phones.tsv");
  Pipeline words = trained(other, {}, other / "phones.tsv");
  EXPECT_TRUE(names_of(words, *words.load_data("").test).contains("word_error_rate"));
}

TEST(Speech, PreparedAndWrittenDataTrainTheSame) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  expect_prepared_and_written_data_train_the_same([] { return small_setup(); });
}

#endif

}  // namespace
}  // namespace fovea::speech_test
