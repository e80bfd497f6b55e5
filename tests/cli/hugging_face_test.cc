// A Hugging Face folder in place of a run, through the program.
#include <gtest/gtest.h>

#include "tests/cli/program_test.h"
#include "tests/support/tiny_networks.h"

namespace fovea::hugging_face_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TinyNetwork;

class FolderAsRun : public testing::ProgramTest {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "built without ICU";
#endif
  }
  std::string network(const std::string& name) const {
    TinyNetwork(name).write(folder / name);
    return path(name);
  }
};

TEST_F(FolderAsRun, ClassifiesExplainsEvaluatesAndGoesOut) {
  for (const char* name : {"bert-classifier", "roberta-classifier", "distilbert-classifier"}) {
    const std::string run = network(name);
    const Outcome predicted = fovea({"predict", run, "A man eats an apple."});
    ASSERT_EQ(predicted.status, 0) << predicted.err;
    const std::string label = predicted.out.substr(0, predicted.out.find('\t'));
    EXPECT_TRUE(label == "negative" || label == "positive" || label == "neutral") << predicted.out;

    const std::string report = path(concat(name, ".html"));
    const Outcome explained = fovea({"explain", run, "A man eats an apple.", "--out", report});
    ASSERT_EQ(explained.status, 0) << explained.err;
    EXPECT_GT(std::filesystem::file_size(report), 10000u);

    const std::string data =
        folder.write("data.csv", concat("text,label\nA man eats an apple.,", label, "\n")).string();
    const Outcome evaluated = fovea({"evaluate", run, data, "--json"});
    ASSERT_EQ(evaluated.status, 0) << evaluated.err;
    EXPECT_EQ(evaluated.json()["metrics"]["accuracy"], 1);
    EXPECT_EQ(fovea({"evaluate", run}).status, 1);

#ifdef FOVEA_WITH_ONNX
    const Outcome exported = fovea({"export", run, "--onnx", path("net.onnx"), "--attention"});
    ASSERT_EQ(exported.status, 0) << exported.err;
    EXPECT_TRUE(std::filesystem::exists(path("net.onnx")));
#endif
    const std::string copy = path(concat(name, "-copy"));
    ASSERT_EQ(fovea({"export", run, "--hugging-face", copy}).status, 0);
    EXPECT_EQ(fovea({"predict", copy, "A man eats an apple."}).out, predicted.out);
  }
}

TEST_F(FolderAsRun, AnswersQuestions) {
  const std::string run = network("bert-qa");
  const std::string input = "{\"question\": \"Who eats?\", \"text\": \"A man eats an apple.\"}";
  const Outcome predicted = fovea({"predict", run, input, "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  const Outcome same = fovea({"predict", run, "Who eats?\tA man eats an apple.", "--json"});
  EXPECT_EQ(same.out, predicted.out);
  const Outcome explained = fovea({"explain", run, input, "--out", path("answer.html")});
  ASSERT_EQ(explained.status, 0) << explained.err;
  const std::string data =
      folder
          .write("data.jsonl",
                 "{\"question\": \"Who eats?\", \"text\": \"A man eats an apple.\", \"answers\": "
                 "[{\"text\": \"A man\", \"start\": 0}]}\n")
          .string();
  const Outcome evaluated = fovea({"evaluate", run, data, "--json"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_TRUE(evaluated.json()["metrics"].contains("exact_match"));
#ifdef FOVEA_WITH_ONNX
  const Outcome exported = fovea({"export", run, "--onnx", path("qa.onnx"), "--attention"});
  EXPECT_EQ(exported.status, 0) << exported.err;
#endif
  ASSERT_EQ(fovea({"export", run, "--hugging-face", path("copy")}).status, 0);
  EXPECT_EQ(fovea({"predict", path("copy"), input, "--json"}).out, predicted.out);
  const Outcome bare = fovea({"predict", run, "Who eats?"});
  EXPECT_EQ(bare.status, 1);
  EXPECT_NE(bare.err.find("a tab between them"), std::string::npos);
}

TEST_F(FolderAsRun, GoesOnLearning) {
  const std::string run = network("bert-qa");
  const Outcome trained =
      fovea({"train", "questions", "--from", run, "--out", path("run"), "--set", "data.rows=40",
             "--set", "data.validation_rows=8", "--set", "data.test_rows=8", "--set",
             "data.longest=64", "--set", "training.epochs=1", "--quiet"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  ASSERT_EQ(fovea({"evaluate", path("run")}).status, 0);
  ASSERT_EQ(fovea({"export", path("run"), "--hugging-face", path("out")}).status, 0);
  const std::string input = "{\"question\": \"Who eats?\", \"text\": \"A man eats an apple.\"}";
  // The same network; of a folder nobody says that there may be no answer.
  const Json own = parse_json(
                 fovea({"predict", path("run"), input, "--json", "--set", "output.no_answer=no"})
                     .out,
                 "own"),
             back = parse_json(fovea({"predict", path("out"), input, "--json"}).out, "back");
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0]["answer"], back[0]["answer"]);
}

}  // namespace
}  // namespace fovea::hugging_face_test
