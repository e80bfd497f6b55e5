// fovea tokenise: what a tokenizer.json makes of texts, and one that is learned from a user's
// files.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/cli/program_test.h"

namespace fovea::tokenise_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class Tokenise : public testing::TextProgramTest {
 protected:
  static std::string golden(const std::string& name) {
    return std::string(FOVEA_TEST_FILES) + "/golden/hugging_face/" + name;
  }
};

TEST_F(Tokenise, ShowsTokensIdsAndOffsets) {
  const Outcome table = fovea({"tokenise", golden("bert"), "--text", "A man"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_NE(table.out.find("[CLS]"), std::string::npos);
  EXPECT_NE(table.out.find("man    110         2-5"), std::string::npos) << table.out;
  const Outcome json = fovea({"tokenise", golden("bert") + "/tokenizer.json", "--text", "Who?",
                              "--pair", "A man", "--json"});
  EXPECT_EQ(json.json()["type_ids"], Json({0, 0, 0, 0, 1, 1, 1})) << json.out;
  EXPECT_EQ(json.json()["special_tokens_mask"], Json({1, 0, 0, 1, 0, 0, 1}));
  const Outcome bare =
      fovea({"tokenise", golden("gpt2"), "--text", "a\xC3\xA9", "--no-special-tokens", "--json"});
  EXPECT_EQ(bare.json()["offsets"], Json::parse("[[0,1],[1,2],[1,2]]"));
  EXPECT_EQ(bare.json()["bytes"], Json::parse("[[0,1],[1,3],[1,3]]"));
}

TEST_F(Tokenise, AFileHasATextALine) {
  const std::string file = folder.write("texts.txt", "A man\r\n\nTwo\n").string();
  const Outcome outcome = fovea({"tokenise", golden("bert"), file, "--json"});
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3) << outcome.err;
  EXPECT_NE(outcome.out.find("{\"ids\":[2,3]"), std::string::npos) << outcome.out;
}

TEST_F(Tokenise, CountsTheTokensOfAFile) {
  const std::string file = folder.write("texts.txt", "A man\nTwo\n").string();
  const Outcome outcome = fovea({"tokenise", golden("bert"), file, "--count", "--json"});
  EXPECT_EQ(outcome.json(), Json({{"texts", 2}, {"characters", 8}, {"tokens", 7}})) << outcome.err;
  EXPECT_NE(outcome.err.find("MB/s"), std::string::npos);
  EXPECT_NE(fovea({"tokenise", golden("bert"), file, "--count"}).out.find("1.14"),
            std::string::npos);
}

TEST_F(Tokenise, Decodes) {
  EXPECT_EQ(fovea({"tokenise", golden("bert"), "--decode", "2 29, 110 3"}).out,
            "[CLS] a man [SEP]\n");
  EXPECT_EQ(
      fovea({"tokenise", golden("bert"), "--decode", "2 29 110 3", "--no-special-tokens"}).out,
      "a man\n");
  EXPECT_NE(fovea({"tokenise", golden("bert"), "--decode", "2 x"}).err.find("'x'"),
            std::string::npos);
}

TEST_F(Tokenise, LearnsOneFromFiles) {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += concat("the cat ", i, " sat on the mat\n\n");
  const std::string file = folder.write("texts.txt", lines).string();
  const Outcome learned =
      fovea({"tokenise", "--train", "bpe", file, "--size", "300", "--out", path("bpe")});
  EXPECT_EQ(learned.status, 0) << learned.err;
  EXPECT_EQ(learned.out, path("bpe") + "\n");
  EXPECT_NE(learned.err.find("from 30 texts"), std::string::npos) << learned.err;
  EXPECT_EQ(fovea({"tokenise", path("bpe"), "--text", "the cat sat", "--json"}).json()["tokens"],
            Json({"the", "Ġcat", "Ġsat"}));
  const Outcome again =
      fovea({"tokenise", "--train", "bpe", file, "--size", "300", "--out", path("bpe")});
  EXPECT_EQ(again.status, 1);  // nothing is written over
  EXPECT_EQ(fovea({"tokenise", "--train", "wordpiece", file, "--size", "80", "--cased", "--out",
                   path("pieces")})
                .status,
            0);
  EXPECT_EQ(
      read_json_file(path("pieces/tokenizer.json"), {.keys = 100000})["normalizer"]["lowercase"],
      false);
}

TEST_F(Tokenise, MistakesAreSaidInOneLine) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = fovea(arguments);
    EXPECT_NE(outcome.status, 0);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(error({"tokenise"}).find("which tokeniser?"), std::string::npos);
  EXPECT_NE(error({"tokenise", golden("bert")}).find("--text"), std::string::npos);
  EXPECT_NE(error({"tokenise", golden("nothing"), "--text", "a"}).find("nothing"),
            std::string::npos);
  EXPECT_NE(error({"tokenise", golden("bert"), "--text", "a", "--size", "5"}).find("--train"),
            std::string::npos);
  EXPECT_NE(error({"tokenise", "--train", "bpe", "--out", path("x")}).find("files"),
            std::string::npos);
  EXPECT_NE(error({"tokenise", "--train", "bpee", path("x"), "--out", path("y")}).find("bpe"),
            std::string::npos);
  EXPECT_NE(error({"tokenise", golden("bert"), "--text", "a\xff"}).find("not valid UTF-8"),
            std::string::npos);
  const std::string bad =
      folder.write("tokenizer.json", R"({"normalizer": {"type": "NFX"}, "model": {"type": "BPE"}})")
          .string();
  EXPECT_NE(error({"tokenise", bad, "--text", "a"}).find("normalizer type 'NFX' is not known"),
            std::string::npos);
}

}  // namespace
}  // namespace fovea::tokenise_test
