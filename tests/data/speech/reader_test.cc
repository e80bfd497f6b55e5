#include "fovea/data/speech/reader.h"

#include "tests/data/testing.h"

namespace fovea::speech::reader_test {
namespace {

TEST(SpeechFile, OneSoundOrSeveralARow) {
  const TemporaryFolder folder;
  const auto one = folder.write("one.tsv",
                                "file\tspeaker\ttranscript\tsplit\na b.wav\tann\tseven\ttrain\n"
                                "c.wav\tben\tten four\ttest\n\tben\tnothing\ttrain\n");
  const FileRows<Utterance> read = read_speech(one, {});
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.rows[0].sounds, (std::vector<std::filesystem::path>{folder / "a b.wav"}));
  EXPECT_EQ(read.rows[0].speaker, "ann");
  EXPECT_EQ(read.rows[1].transcript, "ten four");
  EXPECT_EQ(read.rows[1].place, one.string() + ":3");
  EXPECT_FALSE(read.rows[0].sound_is_word) << "a whole file tells nothing of its words";
  EXPECT_EQ(read.splits, (std::vector<Split>{kTrain, kTest}));
  EXPECT_TRUE(has_note(read.notes, "1 rows without sound or transcript"));

  MediaTableOptions options;
  options.files = "wav/{}";
  const auto several = folder.write("many.tsv",
                                    "files\ttranscript\n1.wav 2.wav\tone two\n"
                                    "1.wav 2.wav\tone two three\n");
  const auto joined = read_speech(several, options).rows;
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].sounds,
            (std::vector<std::filesystem::path>{folder / "wav/1.wav", folder / "wav/2.wav"}));
  EXPECT_TRUE(joined[0].sound_is_word);
  EXPECT_FALSE(joined[1].sound_is_word) << "two sounds, three words";
}

TEST(SpeechFile, RolesNameTheColumns) {
  const TemporaryFolder folder;
  DataSource source;
  source.path = folder.write("t.csv",
                             "clip,said,audio\nx.wav,\"one, two\",wrong\n"
                             "y.wav,three,wrong\n");
  source.roles = {{"audio", {"clip"}}, {"transcript", {"said"}}};
  const auto splits = open_speech(source, {.task = "speech", .fraction = 0}, {});
  ASSERT_EQ(splits.train.size(), 2);
  EXPECT_EQ(splits.train[0].transcript, "one, two");
  EXPECT_EQ(splits.train[0].sounds[0], folder / "x.wav");
  source.roles = {{"sound", {"clip"}}};
  expect_error(ErrorKind::InvalidArgument, "sound", [&] { open_speech(source, {}, {}); });
}

TEST(SpeechFile, BoundariesAreOnePairAWord) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& boundaries) {
    return read_speech(
        folder.write("t.tsv", "audio\ttext\tboundaries\na.wav\tone two\t" + boundaries + "\n"), {});
  };
  const auto known = read("0:0.5 0.75:1.25").rows[0].boundaries;
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known[1], (std::pair<double, double>{0.75, 1.25}));
  EXPECT_TRUE(read("").rows[0].boundaries.empty());
  expect_error(ErrorKind::BadData, {"t.tsv:2", "1 boundaries for 2 words"}, [&] { read("0:1"); });
  for (const char* wrong : {"0:1 0.5:2", "1:0 2:3", "0-1 1-2", "a:b c:d", "-1:1 1:2", "0:nan 1:2"})
    expect_error(ErrorKind::BadData, {"t.tsv:2", "begin:end"}, [&] { read(wrong); });
}

TEST(SpeechFile, WhatIsMissingIsNamed) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& content, const MediaTableOptions& options = {}) {
    read_speech(folder.write("t.tsv", content), options);
  };
  expect_error(ErrorKind::NotFound, {"--columns audio=NAME", "sound, text"},
               [&] { read("sound\ttext\na.wav\tx\n"); });
  expect_error(ErrorKind::NotFound, {"--columns transcript=NAME"},
               [&] { read("audio\twords\na.wav\tx\n"); });
  expect_error(ErrorKind::BadData, "holds no utterances", [&] { read("audio\ttext\na.wav\t\n"); });
  MediaTableOptions wrong;
  wrong.files = "wav";
  expect_error(ErrorKind::InvalidArgument, "write {}",
               [&] { read("audio\ttext\na.wav\tx\n", wrong); });
}

}  // namespace
}  // namespace fovea::speech::reader_test
