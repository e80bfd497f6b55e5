// The way of a user through pretrain and Hugging Face folders, with a tiny network.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/cli/program_test.h"

namespace fovea::texts_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class Texts : public testing::ProgramTest {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
    std::vector<std::string> arguments{"train",   "pretrain", "--epochs", "1",
                                       "--quiet", "--out",    path("run")};
    for (const char* assignment :
         {"data.rows=40", "data.validation_rows=8", "data.test_rows=4", "data.longest=32",
          "model.hidden=16", "model.layers=1", "model.heads=2", "model.maximum_length=32"})
      arguments.insert(arguments.end(), {"--set", assignment});
    ASSERT_EQ(fovea(arguments).status, 0);
    ASSERT_EQ(fovea({"export", path("run"), "--hugging-face", path("bert")}).status, 0);
  }
};

TEST_F(Texts, AFolderAnswersLikeItsRun) {
  const Outcome run = fovea({"predict", path("run"), "the cat [MASK]", "--json"});
  const Outcome other = fovea({"predict", path("bert"), "the cat [MASK]", "--json"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(other.json(), run.json());
}

TEST_F(Texts, WhatIsCutIsSaidOnStandardError) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += ". ";
  const Outcome outcome = fovea({"predict", path("run"), "a cat", text});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("1 of 2 inputs"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("lost 10 tokens"), std::string::npos) << outcome.err;
  EXPECT_EQ(fovea({"predict", path("run"), "a cat"}).err, "");
}

TEST_F(Texts, DoctorSkipsTheManifestOfAFolder) {
  const Outcome outcome = fovea({"doctor", path("bert"), "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  for (const Json& check : outcome.json()["checks"])
    if (check["check"] == "manifest") {
      EXPECT_EQ(check["detail"].get<std::string>().rfind("skipped", 0), 0u);
    }
  write_file(path("bert/model.safetensors"), "half");
  EXPECT_EQ(fovea({"doctor", path("bert")}).status, 1);
}

}  // namespace
}  // namespace fovea::texts_test
