// The way of a user through the task language, with a tiny network.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/cli/program_test.h"

namespace fovea::language_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class Book : public testing::ProgramTest {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
    std::string text;
    for (int i = 0; i < 300; ++i) text += "the quick brown fox jumps over a lazy dog\n";
    folder.write("book.txt", text);
    ASSERT_EQ(train({path("book.txt"), "--out", path("run"), "--set", "training.steps=200"}).status,
              0);
  }
  static Outcome train(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train", "language", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const char* assignment : {"model.hidden=48", "model.heads=2", "model.layers=2",
                                   "model.maximum_length=32", "training.learning_rate=0.005"})
      arguments.insert(arguments.end(), {"--set", assignment});
    return fovea(arguments);
  }
};

TEST_F(Book, IsLearnedWrittenMeasuredAndShown) {
  const Outcome written =
      fovea({"generate", path("run"), "the q", "--tokens", "100", "--temperature", "0"});
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_EQ(written.out.substr(0, 20), "the quick brown fox ");
  EXPECT_EQ(written.out.size(), 5 + 100 + 1u);
  EXPECT_NE(written.err.find("100 tokens in"), std::string::npos) << written.err;

  const Outcome stopped = fovea(
      {"generate", path("run"), "the q", "--temperature", "0", "--stop", "\\n", "--only-new"});
  EXPECT_EQ(stopped.out, "uick brown fox jumps over a lazy dog\n");
  const Outcome json = fovea({"generate", path("run"), "the q", "--seed", "1", "--top-k", "3",
                              "--top-p", "0.9", "--repetition-penalty", "1.1", "--json"});
  EXPECT_EQ(json.json()["prompt"], "the q");
  EXPECT_EQ(json.json()["tokens"], 200);
  const Outcome beam =
      fovea({"generate", path("run"), "the q", "--beam", "3", "--tokens", "7", "--only-new"});
  EXPECT_EQ(beam.out, "uick br\n");

  const Outcome predicted =
      fovea({"predict", path("run"), "the q", "--set", "decoding.maximum_length=7"});
  EXPECT_EQ(predicted.out, "uick br\n");
  // What --set says of decoding holds where no flag says otherwise.
  EXPECT_EQ(fovea({"generate", path("run"), "the q", "--only-new", "--set", "decoding.method=beam",
                   "--set", "decoding.beam=3", "--set", "decoding.maximum_length=7"})
                .out,
            "uick br\n");
  EXPECT_EQ(fovea({"generate", path("run"), "the q", "--only-new", "--temperature", "0", "--set",
                   "decoding.stop=fox"})
                .out,
            "uick brown \n");
  const Outcome measured = fovea({"evaluate", path("run"), path("book.txt"), "--json"});
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_LT(measured.json()["metrics"]["loss"], 0.5);
  ASSERT_EQ(measured.json()["baselines"].size(), 3u);
  const Outcome report = fovea({"explain", path("run"), "the q", "--out", path("report.html")});
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_NE(read_file(path("report.html")).find("the quick brown"), std::string::npos);
  const Outcome health = fovea({"doctor", path("run")});
  EXPECT_EQ(health.status, 0) << health.out << health.err;
  const Outcome heads = fovea({"heads", path("run"), "--rows", "2", "--no-zeroing", "--json"});
  EXPECT_EQ(heads.status, 0) << heads.err;
  for (const Json& head : heads.json()["heads"]) {
    EXPECT_TRUE(head.contains("sink")) << head;
    EXPECT_TRUE(head.contains("induction")) << head;
  }
}

TEST_F(Book, MistakesAreSaidInOneLine) {
  const auto fails = [&](const std::vector<std::string>& arguments, const std::string& words) {
    const Outcome outcome = fovea(arguments);
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  };
  fails({"generate", path("run"), ""}, "the prompt is empty");
  fails({"generate", path("run"), "the q", "--beam", "100000"}, "64");
  fails({"generate", path("run"), std::string(40, 'o')}, "leaves no room");
  fails({"generate", path("run"), "to", "--top-p", "2"}, "--top-p");
  fails({"generate", path("run"), "to", "--tokens", "-3"},
        "--tokens: expected a number above 0, found -3");
  folder.write("empty.txt", "");
  fails({"train", "language", path("empty.txt"), "--out", path("x")}, "no text");
  fails(
      {"train", "language", path("book.txt"), "--set", "data.tokeniser=wordz", "--out", path("x")},
      "wordz");
  ASSERT_EQ(fovea({"train", "context", "--epochs", "1", "--quiet", "--out", path("other")}).status,
            0);
  fails({"generate", path("other"), "a"}, "writes no text");
}

TEST_F(Book, PiecesAreLearnedAndKept) {
  ASSERT_EQ(train({path("book.txt"), "--out", path("pieces"), "--set", "data.tokeniser=bpe",
                   "--set", "data.vocabulary_size=300", "--set", "training.steps=120"})
                .status,
            0);
  const Outcome written = fovea({"generate", path("pieces"), "the quick", "--tokens", "5",
                                 "--temperature", "0", "--only-new"});
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_EQ(written.out.substr(0, 6), " brown") << written.out;
  ASSERT_EQ(
      train({path("book.txt"), "--out", path("again"), "--set",
             "data.tokeniser=" + path("pieces/assets/tokenizer.json"), "--set", "training.steps=2"})
          .status,
      0);
}

TEST_F(Book, IsAdaptedByFewNumbers) {
  std::string other;
  for (int i = 0; i < 300; ++i) other += "the quick brown cat jumps over a lazy dog\n";
  folder.write("other.txt", other);
  const auto adapt = [&](const std::string& out, const std::string& from,
                         const std::vector<std::string>& more) {
    std::vector<std::string> arguments{path("other.txt"), "--from", path(from), "--out", path(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return train(arguments);
  };
  const Outcome adapted =
      adapt("adapted", "run",
            {"--set", "model.lora_rank=8", "--set", "model.lora_targets=all-linear", "--set",
             "training.steps=150", "--set", "training.warmup_steps=0"});
  ASSERT_EQ(adapted.status, 0) << adapted.err;
  const auto written = [&](const std::string& run) {
    return fovea({"generate", path(run), "the q", "--tokens", "15", "--temperature", "0"}).out;
  };
  EXPECT_EQ(written("run"), "the quick brown fox \n");
  EXPECT_EQ(written("adapted"), "the quick brown cat \n");
  EXPECT_LT(std::filesystem::file_size(folder / "adapted" / "model.safetensors"),
            std::filesystem::file_size(folder / "run" / "model.safetensors") / 2);
  EXPECT_EQ(fovea({"export", path("adapted"), "--hugging-face", path("merged")}).status, 0);
  EXPECT_EQ(written("merged"), "the quick brown cat \n");
  EXPECT_EQ(fovea({"export", path("adapted"), "--hugging-face", path("alone"), "--adapter"}).status,
            0);
  EXPECT_EQ(written("alone"), "the quick brown cat \n");
  EXPECT_FALSE(std::filesystem::exists(folder / "alone" / "config.json"));

  const Outcome none = fovea({"export", path("run"), "--hugging-face", path("none"), "--adapter"});
  EXPECT_NE(none.status, 0);
  EXPECT_NE(none.err.find("no low-rank adapters"), std::string::npos) << none.err;
  std::filesystem::rename(folder / "run", folder / "moved");
  const Outcome gone = fovea({"generate", path("alone"), "the q"});
  EXPECT_NE(gone.status, 0);
  EXPECT_NE(gone.err.find("base_model_name_or_path"), std::string::npos) << gone.err;
}

}  // namespace
}  // namespace fovea::language_test
