#include "fovea/data/speech/load.h"

#include "fovea/tensor/torch.h"
#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::speech::load_test {
namespace {

#ifdef FOVEA_WITH_ICU

SpeechDataOptions small() {
  SpeechDataOptions options;
  options.generator.rows = 12;
  options.generator.validation_rows = 4;
  options.generator.test_rows = 5;
  options.tokeniser.kind = "words";
  return options;
}

const SpeechDataset& speech(const std::shared_ptr<Dataset>& rows) {
  return dynamic_cast<const SpeechDataset&>(*rows);
}

Splits load(const DataSource& source, const SpeechDataOptions& options, SpeechCoding& coding,
            int64_t unit_frames = 4) {
  return load_speech(source, options, coding, {1, unit_frames});
}

/// A table of four utterances by two speakers, put together from two sounds.
DataSource digits(const TemporaryFolder& folder) {
  std::vector<int16_t> low, high;
  for (int i = 0; i < 1000; ++i) low.push_back(int16_t(i % 40 < 20 ? 5000 : -5000));
  for (int i = 0; i < 600; ++i) high.push_back(int16_t(i % 8 < 4 ? 3000 : -3000));
  std::filesystem::create_directories(folder / "wav");
  folder.write("wav/one.wav", encode_wav(low, 8000));
  folder.write("wav/two.wav", encode_wav(high, 8000));
  const DataSource source{folder.write("t.tsv",
                                       "files\tspeaker\ttranscript\tsplit\n"
                                       "one.wav two.wav\tann\tone two\ttrain\n"
                                       "two.wav two.wav\tben\ttwo two\tval\n"
                                       "one.wav one.wav\tben\tone one\ttrain\n"
                                       "two.wav one.wav\tann\ttwo one\ttest\n"),
                          {}};
  return source;
}

SpeechDataOptions of_digits() {
  SpeechDataOptions options = small();
  options.sounds = "wav/{}";
  return options;
}

TEST(SpeechData, BuiltInMelodiesHaveTruth) {
  SpeechCoding coding;
  const Splits splits = load({}, small(), coding);
  const SpeechDataset& train = speech(splits.train);
  EXPECT_EQ(train.size(), 12);
  EXPECT_EQ(splits.validation->size(), 4);
  EXPECT_EQ(splits.test->size(), 5);
  ASSERT_TRUE(train.has_truth());
  EXPECT_GT(coding.densest, 0);
  for (int64_t row = 0; row < train.size(); ++row) {
    const at::Tensor truth = train.truth(row);  // [T + 1, units]
    const auto count = int64_t(train.target_ids(row).size());
    ASSERT_EQ(truth.size(0), count);
    ASSERT_EQ(truth.size(1), (train.length(row) + 3) / 4);
    EXPECT_FALSE(truth[count - 1].any().item<bool>()) << "the end is heard nowhere";
    // Notes follow each other: the units of each are a stretch behind that of the one before.
    int64_t before = -1;
    for (int64_t t = 0; t + 1 < count; ++t) {
      const at::Tensor places = truth[t].nonzero().flatten();
      ASSERT_GT(places.numel(), 0);
      EXPECT_EQ(places[-1].item<int64_t>() - places[0].item<int64_t>() + 1, places.numel());
      EXPECT_GE(places[0].item<int64_t>(), before);
      before = places[0].item<int64_t>();
    }
  }
}

TEST(SpeechData, FramesAreNormalisedAsAsked) {
  SpeechDataOptions options = small();
  const auto frames_of_train = [&](const std::string& by) {
    options.normalise = by;
    SpeechCoding coding;
    const Splits splits = load({}, options, coding);
    std::vector<at::Tensor> all;
    for (int64_t row = 0; row < splits.train->size(); ++row)
      all.push_back(splits.train->example(row).tensors.at("source"));
    EXPECT_EQ(coding.training.mean.defined(), by == "training");
    return all;
  };
  const auto expect_unit = [](const at::Tensor& frames) {
    EXPECT_LT(frames.mean(0).abs().max().item<double>(), 1e-3);
    EXPECT_LT((frames.std(0, false) - 1).abs().max().item<double>(), 1e-3);
  };
  for (const at::Tensor& frames : frames_of_train("utterance")) expect_unit(frames);
  for (const at::Tensor& frames : frames_of_train("speaker")) expect_unit(frames);  // nobody named
  expect_unit(at::cat(frames_of_train("training")));
  EXPECT_GT(frames_of_train("none")[0].mean(0).abs().max().item<double>(), 1);
}

TEST(SpeechData, WithARangeSilenceDoesNotDecideWhatNormalIs) {
  Sound words{{}, 8000};
  for (int i = 0; i < 3200; ++i)
    words.samples.push_back(int16_t(9000 * std::sin(0.0004 * i * i) * std::sin(0.003 * i)));
  Sound padded = words;
  padded.samples.insert(padded.samples.begin(), 4000, 0);
  padded.samples.insert(padded.samples.end(), 4000, 0);
  SpeechFeatures features;
  const auto difference = [&] {
    const at::Tensor alone = example_of(words, features).tensors.at("source").narrow(0, 5, 30);
    const at::Tensor within = example_of(padded, features).tensors.at("source").narrow(0, 55, 30);
    const at::Tensor bands = (alone - within).narrow(1, 0, 40);  // slopes see the silence beside
    return bands.abs().max().item<double>();
  };
  EXPECT_GT(difference(), 1);
  features.log_mel.range = 30;
  EXPECT_LT(difference(), 0.3);
}

TEST(SpeechData, ASpeakersUtterancesAreNormalisedTogether) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  const DataSource source = digits(folder);
  SpeechDataOptions options = of_digits();
  options.normalise = "speaker";
  options.left_out = "ann";
  SpeechCoding coding;
  const Splits splits = load(source, options, coding);
  ASSERT_EQ(splits.test->size(), 2);
  const at::Tensor both = at::cat(
      {splits.test->example(0).tensors.at("source"), splits.test->example(1).tensors.at("source")});
  EXPECT_LT(both.mean(0).abs().max().item<double>(), 1e-3);
  EXPECT_GT(splits.test->example(0).tensors.at("source").mean(0).abs().max().item<double>(), 1e-3);
}

TEST(SpeechData, JoinedSoundsTellWhereTheirWordsAre) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  SpeechCoding coding;
  const Splits splits = load(digits(folder), of_digits(), coding, 2);
  ASSERT_EQ(splits.train->size(), 2);
  ASSERT_EQ(splits.test->size(), 1);
  const SpeechDataset& test = speech(splits.test);
  EXPECT_EQ(test.sound(0).samples.size(), 1600u);
  EXPECT_EQ(test.store()->size(), 2) << "every file is read and kept once";
  // Units of 160 samples: two is 0 … 599, one 600 … 1599.
  const at::Tensor truth = test.truth(0);  // [3, 10]
  for (int64_t unit = 0; unit < 10; ++unit) {
    EXPECT_EQ(truth[0][unit].item<bool>(), unit * 160 + 80 < 600) << unit;
    EXPECT_EQ(truth[1][unit].item<bool>(), unit * 160 + 80 >= 600) << unit;
  }
}

TEST(SpeechData, ASpeakerIsLeftOut) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  const DataSource source = digits(folder);
  SpeechDataOptions options = of_digits();
  options.left_out = "ann";
  SpeechCoding coding;
  const Splits splits = load(source, options, coding);
  EXPECT_EQ(splits.test->size(), 2);
  EXPECT_EQ(splits.train->size(), 1);
  EXPECT_EQ(splits.validation->size(), 1);
  EXPECT_TRUE(has_note(splits.notes, "the 2 utterances of ann"));
  options.left_out = "carl";
  SpeechCoding other;
  expect_error(ErrorKind::NotFound, {"data.left_out=carl"}, [&] { load(source, options, other); });
}

TEST(SpeechData, WrittenFilesGiveTheSameRows) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  SpeechCoding one, other;
  const Splits drawn = load({}, small(), one);
  write_speech_data(folder.path(), small());
  const DataSource source{folder.path(), {}};
  const Splits read = load(source, small(), other);
  expect_same_splits(drawn, read);
  EXPECT_EQ(one.densest, other.densest);
}

TEST(SpeechData, PreparedGivesTheSameRows) {
  const TemporaryFolder folder;
  SpeechCoding one, other;
  const Splits drawn = load({}, small(), one);
  const auto path = folder / "a.safetensors";
  write_prepared_speech(path, drawn, small(), one);
  DataSource source;
  source.path = path;
  const Splits read = load(source, small(), other);
  expect_same_splits(drawn, read);
  EXPECT_EQ(one.densest, other.densest);
  EXPECT_EQ(read.notes, drawn.notes);
  SpeechDataOptions faster = small();
  faster.log_mel.sample_rate = 16000;
  expect_error(ErrorKind::InvalidArgument, {"data.sample_rate=8000", "16000"},
               [&] { load(source, faster, other); });
  SpeechDataOptions rarer = small();
  rarer.tokeniser.minimum_count = 3;
  rarer.log_mel.deltas = 1;  // frames are made of the samples in the file: this one has its effect
  EXPECT_EQ(load(source, rarer, other).notes.back(),
            "the data was prepared with minimum_count=1; other values given now have no effect");
  const std::string bytes = read_file(path);
  for (const size_t size : {bytes.size() / 3, bytes.size() - 7}) {
    source.path = folder.write("cut.safetensors", bytes.substr(0, size));
    SpeechCoding third;
    expect_error(ErrorKind::BadData, "cut.safetensors", [&] { load(source, small(), third); });
  }
}

TEST(SpeechData, ASoundThatCannotBeReadIsNamedWithItsLine) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  folder.write("a.wav", encode_wav(std::vector<int16_t>(900, 100), 8000));
  folder.write("silent.wav", encode_wav({}, 8000));
  folder.write("text.wav", "no sound at all");
  DataSource source;
  SpeechCoding coding;
  const auto refuse = [&](ErrorKind kind, const std::string& row,
                          const std::vector<std::string>& words) {
    source.path = folder.write("t.tsv", "audio\ttranscript\na.wav\tone\na.wav\ttwo\n" + row + "\n");
    expect_error(kind, words, [&] { load(source, small(), coding); });
  };
  refuse(ErrorKind::NotFound, "gone.wav\tx", {"t.tsv:4", "gone.wav", "no such file"});
  refuse(ErrorKind::BadData, "silent.wav\tx", {"t.tsv:4", "silent.wav", "no samples"});
  refuse(ErrorKind::BadData, "text.wav\tx", {"t.tsv:4", "text.wav", "is no sound"});
}

TEST(SpeechData, SilenceStereoAndOtherRatesAreRead) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const TemporaryFolder folder;
  folder.write("silence.wav", encode_wav(std::vector<int16_t>(4000, 0), 8000));
  folder.write("fast.wav", encode_wav(std::vector<int16_t>(48000, 900), 48000));
  const DataSource source{
      folder.write("t.tsv", "audio\ttext\nsilence.wav\tnothing\nfast.wav\tsomething\n"), {}};
  SpeechDataOptions options = small();
  options.validation_fraction = 0;
  SpeechCoding coding;
  const Splits splits = load(source, options, coding);
  const Example silence = splits.train->example(0), fast = splits.train->example(1);
  EXPECT_EQ(silence.tensors.at("source").abs().max().item<float>(), 0);
  EXPECT_EQ(fast.tensors.at("source").size(0), 100);
  EXPECT_TRUE(fast.tensors.at("source").isfinite().all().item<bool>());
}

TEST(SpeechData, ExamplesHaveFramesTimesAndSound) {
  SpeechCoding coding;
  const Splits splits = load({}, small(), coding);
  const Example example = splits.test->example(1);
  const Axis& axis = example.axis("source");
  const int64_t frames = splits.test->length(1), units = (frames + 3) / 4;
  EXPECT_EQ(example.tensors.at("source").sizes(), (std::vector<int64_t>{frames, 120}));
  EXPECT_EQ(int64_t(axis.labels.size()), units);
  EXPECT_EQ(int64_t(axis.times.size()), units);
  EXPECT_NEAR(axis.times[3], 0.12, 1e-9);
  EXPECT_EQ(axis.spectrogram.sizes(), (std::vector<int64_t>{40, units}));
  ASSERT_EQ(example.media.size(), 1u);
  EXPECT_EQ(example.media[0].type, "audio/wav");
  EXPECT_EQ(example.truth.at("attention").size(1), units);
  const Example again = example_of(speech(splits.test).sound(1), speech(splits.test).features());
  EXPECT_TRUE(again.tensors.at("source").equal(example.tensors.at("source")));
}

TEST(SpeechData, ErasedUnitsAreSilent) {
  SpeechCoding coding;
  const Splits splits = load({}, small(), coding);
  const SpeechFeatures features = speech(splits.test).features();
  const Example example = splits.test->example(0);
  const std::vector<int64_t> units{1, 2};
  const Example erased = erase_sound(example, units, features);
  const at::Tensor before = example.tensors.at("source"), after = erased.tensors.at("source");
  EXPECT_EQ(erased.tensors.at("samples").narrow(0, 320, 640).abs().sum().item<int64_t>(), 0);
  // Four frames a unit; a window reaches two frames further, slopes four.
  EXPECT_FALSE(before.narrow(0, 4, 8).equal(after.narrow(0, 4, 8)));
  EXPECT_TRUE(before.narrow(0, 18, 4).equal(after.narrow(0, 18, 4)));
  EXPECT_TRUE(erase_sound(example, {}, features).tensors.at("source").equal(before));
  const std::vector<int64_t> wrong{1000};
  expect_error(ErrorKind::InvalidArgument, "no unit 1000",
               [&] { erase_sound(example, wrong, features); });
}

TEST(SpeechData, UtterancesAreRepeated) {
  SpeechCoding coding;
  const Splits splits = load({}, small(), coding);
  const SpeechDataset& once = speech(splits.test);
  const auto longer = once.repeated(2, 3);
  const SpeechDataset& thrice = speech(longer);
  ASSERT_EQ(thrice.size(), 2);
  const std::string text = once.transcript(1);
  EXPECT_EQ(thrice.transcript(1), text + " " + text + " " + text);
  EXPECT_EQ(thrice.target_ids(1).size(), 3 * (once.target_ids(1).size() - 1) + 1);
  EXPECT_EQ(thrice.sound(1).samples.size(), 3 * once.sound(1).samples.size());
  const at::Tensor truth = thrice.truth(1);
  EXPECT_TRUE(truth.narrow(0, 0, truth.size(0) - 1).any(1).all().item<bool>());
  const int64_t symbols = (truth.size(0) - 1) / 3;
  EXPECT_GT(truth[2 * symbols].nonzero()[0].item<int64_t>(),
            truth[symbols].nonzero()[0].item<int64_t>());
}

TEST(SpeechData, ABatchIsPadded) {
  SpeechCoding coding;
  const Splits splits = load({}, small(), coding);
  const std::vector<int64_t> rows{3, 1, 0};
  const Batch batch = splits.train->batch(rows);
  const int64_t longest =
      std::max({splits.train->length(0), splits.train->length(1), splits.train->length(3)});
  EXPECT_EQ(batch.at("source").sizes(), (std::vector<int64_t>{3, longest, 120}));
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t length = splits.train->length(rows[size_t(i)]);
    EXPECT_EQ(batch.at("source.keep")[i].sum().item<int64_t>(), length);
    EXPECT_EQ(batch.at("source")[i].narrow(0, length, longest - length).abs().sum().item<float>(),
              0);
  }
  EXPECT_TRUE(batch.at("target.keep").equal(batch.at("target") != 0));
}

#endif

}  // namespace
}  // namespace fovea::speech::load_test
