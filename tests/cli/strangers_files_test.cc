// Texts, pictures and sounds as people have them, through the program.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/data/formats/read_image.h"
#include "tests/cli/program_test.h"

namespace fovea {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

namespace fs = std::filesystem;

class StrangersFiles : public testing::ProgramTest {
 protected:
  Outcome train(const std::string& task, const std::string& data,
                const std::vector<std::string>& more = {}) {
    fs::remove_all(folder / "run");
    std::vector<std::string> arguments{"train", task, data, "--epochs", "1", "--out", path("run")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
  /// A training that says this on the way.
  void expect_learns(const Outcome& outcome, const std::vector<std::string>& notes) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string& note : notes)
      EXPECT_NE(outcome.err.find(note), std::string::npos) << note << " not in: " << outcome.err;
  }
  void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " not in: " << outcome.err;
    EXPECT_FALSE(fs::exists(folder / "run"));
  }
};

std::string repeated(const std::string& lines, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += lines;
  return text;
}

TEST_F(StrangersFiles, TextsWithLabels) {
  const std::vector<std::string> han{"--set", "model.name=han", "--set", "data.minimum_count=1"};
  const auto documents = [&](const std::string& data) { return train("documents", data, han); };
  const std::string classes = "2 classes: bad (";
  expect_learns(documents(file("a.txt", repeated("__label__good a fine film\n"
                                                 "__label__bad a dull film\n",
                                                 10))),
                {classes});
  expect_learns(documents(file("b.txt", repeated("__label__a __label__b both of them\n"
                                                 "__label__a one alone\n",
                                                 10))),
                {"2 labels, 1.5 a text: a ("});
  expect_learns(
      documents(file("c.txt", repeated("a fine film\tgood\nanother dull film\tbad\n", 10))),
      {classes});
  expect_refused(documents(file("d.txt", "a text without a label\n")), {"d.txt:1", "tab"});
  expect_learns(documents(file("a.json", "[" +
                                             repeated("{\"text\": \"fine\", \"label\": \"good\"},\n"
                                                      "{\"text\": \"dull\", \"label\": \"bad\"},",
                                                      10) +
                                             "{\"text\": \"fine\", \"label\": \"good\"}]")),
                {classes});
  expect_learns(documents(file("lines.json", repeated("{\"text\": \"fine\", \"label\": \"good\"}\n"
                                                      "{\"text\": \"dull\", \"label\": \"bad\"}\n",
                                                      10))),
                {classes});
  expect_learns(
      documents(
          file("a.csv", "review,sentiment\n" +
                            repeated("\"fine,\nreally\",good\n\"so \"\"dull\"\"\",bad\n", 10))),
      {"the text is the column 'review'", "the label is the column 'sentiment'"});
  for (int i = 0; i < 10; ++i) {
    file(concat("folder/good/", i, ".txt"), "a fine film");
    file(concat("folder/bad/", i, ".txt"), "a dull caf\xE9");
    file(concat("splits/train/good/", i, ".txt"), "a fine film");
    file(concat("splits/train/bad/", i, ".txt"), "a dull film");
    file(concat("splits/test/bad/", i, ".txt"), "a dull film");
  }
  expect_learns(documents(path("folder")), {classes, "10 files are not UTF-8"});
  expect_learns(documents(path("splits")), {classes});
}

TEST_F(StrangersFiles, SentencePairs) {
  const std::vector<std::string> german{"--direction", "de-en"};
  const std::string rows = repeated(
      "{\"translation\": {\"de\": \"ein Hund\", \"en\": \"a dog\"}}\n"
      "{\"translation\": {\"de\": \"eine Katze\", \"en\": \"a cat\"}}\n",
      6);
  expect_learns(train("translate", file("a.jsonl", rows), german), {});
  expect_refused(train("translate", path("a.jsonl")), {"a.jsonl:1", "--direction de-en or en-de"});
  expect_learns(
      train("translate", file("a.csv", "source,target\n" +
                                           repeated("\"ein, Hund\",a dog\neine Katze,a cat\n", 6))),
      {});
  expect_refused(train("translate", file("b.csv", "german,english\nein Hund,a dog\n")),
                 {"--columns source=NAME", "'german'"});
}

TEST_F(StrangersFiles, TagsOfEveryScheme) {
  const std::string conll =
      "-DOCSTART- -X- O O\n\n" + repeated(
                                     "Anna NNP I-NP I-PER\nsleeps VBZ I-VP O\n\n"
                                     "Bonn NNP I-NP S-LOC\nis VBZ I-VP O\n\n",
                                     6);
  expect_learns(train("tag", file("a.conll", conll)), {"rewritten as IOB2"});
}

TEST_F(StrangersFiles, PicturesOfAnySizeAndColour) {
  if (!can_read_images()) GTEST_SKIP() << "this build reads no pictures";
  for (int i = 0; i < 12; ++i) {
    Image picture = make_image(20 + 7 * i, 90 - 5 * i, i % 3 == 0 ? 1 : 3, uint8_t(20 * i));
    if (i == 7) picture.at(0, 0, 0) = 255;
    file(concat("pictures/", i % 2 ? "cat/" : "dog/", i, ".png"), encode_png(picture));
    file(concat("labels/", i, ".png"), encode_png(picture));
  }
  expect_learns(train("images", path("pictures")), {"several sizes become 32 x 32", "in colour"});
  const Outcome answer = fovea({"predict", path("run"), path("pictures/cat/1.png")});
  EXPECT_EQ(answer.status, 0) << answer.err;
  const Outcome believed =
      fovea({"explain", path("run"), path("pictures/cat/1.png"), "--faithfulness", "--json"});
  ASSERT_EQ(believed.status, 0) << believed.err;
  EXPECT_NE(believed.out.find("comprehensiveness"), std::string::npos);

  file("pictures/cat/broken.png", "no picture");
  expect_refused(train("images", path("pictures")),
                 {"broken.png", "1 of 13 files", "max_bad_share"});
  const std::vector<std::string> some{"--set", "data.max_bad_share=.1"};
  expect_learns(train("images", path("pictures"), some),
                {"1 of 13 files cannot be read", "broken.png"});
  std::vector<std::string> strict = some;
  strict[1] = "data.view=plain";
  strict.push_back("--strict");
  expect_refused(train("images", path("pictures"), strict), {"broken.png"});

  std::string table = "file,class\n";
  for (int i = 0; i < 12; ++i) table += concat(i, ".png,", i % 2 ? "cat" : "dog", "\n");
  expect_learns(train("images", file("labels/labels.csv", table)), {"2 classes"});
  expect_refused(train("images", file("labels/other.csv", "file,kind\n0.png,cat\n")),
                 {"--columns label=NAME", "kind"});
  EXPECT_EQ(fovea({"train", "features", "--strict"}).status, 1);
}

TEST_F(StrangersFiles, OneBrokenSoundIsLeftOut) {
  ASSERT_EQ(fovea({"data", "speech", "--set", "data.rows=30", "--set", "data.validation_rows=2",
                   "--set", "data.test_rows=2", "--out", path("speech")})
                .status,
            0);
  file("speech/train/3.wav", "no sound");
  expect_learns(train("speech", path("speech")),
                {"1 of 34 files cannot be read and are left out", "3.wav"});
  expect_refused(train("speech", path("speech"), {"--strict"}), {"train.tsv:4", "3.wav"});
}

}  // namespace
}  // namespace fovea
