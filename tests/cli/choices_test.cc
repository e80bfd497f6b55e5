// Multiple choice through the program: a table of one's own, answers, pictures, and Hugging Face.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::choices_test {
namespace {

using testing::fovea;
using testing::Outcome;

class ChoicesByHand : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "built without ICU";
#endif
  }
  std::string path(const std::string& name) const {
    return (folder / name).string();
  }
  /// 60 questions in MMLU's columns, the last choice of some left out.
  std::string table() const {
    std::string content = "question,A,B,C,answer\n";
    const char* animals[] = {"cat", "dog", "horse", "mouse", "bird"};
    for (int i = 0; i < 60; ++i)
      content += concat("What does ", animals[i % 5], " ", i, " like?,a ", animals[i % 5], ",a ",
                        animals[(i + 1 + i / 5 % 4) % 5], i % 3 == 0 ? "," : ",a stone", ",A\n");
    return folder.write("table.csv", content).string();
  }
  testing::TemporaryFolder folder;
};

TEST_F(ChoicesByHand, TrainsAnswersExplainsAndGoesOut) {
  const Outcome trained =
      fovea({"train", "choices", table(), "--out", path("run"), "--quiet", "--set",
             "model.hidden=16", "--set", "model.heads=2", "--epochs", "2"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome evaluated = fovea({"evaluate", path("run"), "--split", "validation", "--json"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_TRUE(evaluated.json()["metrics"].contains("accuracy"));
  EXPECT_EQ(evaluated.json()["baselines"].size(), 3u);

  const std::string input =
      "{\"question\": \"What does cat 7 like?\", \"choices\": [\"a stone\", \"a cat\"]}";
  const Outcome answered = fovea({"predict", path("run"), input, "--json"});
  ASSERT_EQ(answered.status, 0) << answered.err;
  const Json answer = answered.json().at(0);
  ASSERT_EQ(answer["probabilities"].size(), 2u);
  EXPECT_NEAR(answer["probabilities"][0].get<double>() + answer["probabilities"][1].get<double>(),
              1, 1e-6);
  EXPECT_EQ(fovea({"predict", path("run"), "What does cat 7 like?\ta stone\ta cat", "--json"}).out,
            answered.out);
  const std::string rows =
      folder.write("new.csv", "A,question,B,C\na cat,Who?,a dog,\na cat,Why?,a dog,a stone\n")
          .string();
  const Outcome many =
      fovea({"predict", path("run"), "--input", rows, "--out", path("answers.csv")});
  ASSERT_EQ(many.status, 0) << many.err;
  EXPECT_NE(read_file(path("answers.csv")).find("prediction"), std::string::npos);

  const Outcome explained = fovea(
      {"explain", path("run"), input, "--faithfulness", "--quiet", "--out", path("report.html")});
  ASSERT_EQ(explained.status, 0) << explained.err;
  EXPECT_NE(explained.out.find("Does this picture show what the model used?"), std::string::npos)
      << explained.out;

  ASSERT_EQ(fovea({"export", path("run"), "--hugging-face", path("net")}).status, 0);
  EXPECT_EQ(read_json_file(path("net") + "/config.json")["architectures"][0],
            "BertForMultipleChoice");
  const Json back = fovea({"predict", path("net"), input, "--json"}).json().at(0);
  EXPECT_EQ(back["choice"], answer["choice"]);
  for (size_t c = 0; c < 2; ++c)  // calibrated there too
    EXPECT_NEAR(back["probabilities"][c].get<double>(), answer["probabilities"][c].get<double>(),
                1e-5);
#ifdef FOVEA_WITH_ONNX
  EXPECT_EQ(fovea({"export", path("run"), "--onnx", path("net.onnx"), "--attention"}).status, 0);
#endif
  const Outcome again = fovea({"train", "choices", table(), "--from", path("net"), "--out",
                               path("tuned"), "--quiet", "--epochs", "1"});
  EXPECT_EQ(again.status, 0) << again.err;
}

TEST_F(ChoicesByHand, WhatIsWrongIsOneLine) {
  const std::string data =
      folder.write("bad.csv", "question,A,B,answer\nWho?,me,you,A\nWhy?,so,not,D\n").string();
  const Outcome trained = fovea({"train", "choices", data, "--out", path("run")});
  EXPECT_EQ(trained.status, 1);
  EXPECT_NE(trained.err.find("bad.csv:3: the answer 'D' is not among the 2 choices"),
            std::string::npos)
      << trained.err;
}

}  // namespace
}  // namespace fovea::choices_test
