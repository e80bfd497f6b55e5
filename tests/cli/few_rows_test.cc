// Tables of few rows through the program: what judges the model is kept apart, what answers has
// seen all rows.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::few_rows_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class FewRows : public ::testing::Test {
 protected:
  std::string path(const std::string& name) { return (folder / name).string(); }
  bool exists(const std::string& name) { return std::filesystem::exists(folder / name); }
  /// Rows whose target is 3 a - 2 b.
  std::string table(const std::string& name, int begin, int end, bool split = false) {
    std::string text = concat("a,b,y", split ? ",split\n" : "\n");
    for (int i = begin; i < end; ++i)
      text += concat(i * 37 % 101 * 0.1, ",", i * 53 % 89 * 0.1, ",",
                     3 * (i * 37 % 101 * 0.1) - 2 * (i * 53 % 89 * 0.1),
                     split ? (i % 5 ? ",train\n" : ",val\n") : "\n");
    write_file(path(name), text);
    return path(name);
  }
  Outcome train(const std::string& data, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"train", "features", data,        "--target",
                                       "y",     "--out",    path("run"), "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
  double r2(const std::vector<std::string>& what = {}) {
    std::vector<std::string> arguments{"evaluate", path("run"), "--json"};
    arguments.insert(arguments.end(), what.begin(), what.end());
    const Outcome outcome = fovea(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.json()["metrics"]["r2"];
  }
  TemporaryFolder folder;
};

const std::vector<std::string> kLinear{"--set", "model.name=linear"};
const std::vector<std::string> kSmall{"--set", "model.name=plain", "--set", "model.hidden=8",
                                      "--set", "model.members=1",  "--set", "training.patience=2"};

TEST_F(FewRows, AreAllTrainedOnOnceTheyHaveJudged) {
  for (const auto& model : {kLinear, kSmall}) {
    const Outcome outcome = train(table("t.csv", 0, 120), model);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("learned again from all 120 rows"), std::string::npos)
        << outcome.err;
    ASSERT_TRUE(exists("run/held_out.safetensors"));
    EXPECT_NE(read_file(path("run/held_out.safetensors")),
              read_file(path("run/model.safetensors")));
    // The validation rows are measured with the weights that have not seen them, as in training.
    const Outcome measured = fovea({"evaluate", path("run")});
    EXPECT_NE(measured.err.find("have not seen these rows"), std::string::npos) << measured.err;
    const Outcome judged = train(table("t.csv", 0, 120), [&] {
      std::vector<std::string> quiet = model;
      quiet.insert(quiet.end(), {"--json", "--quiet"});
      return quiet;
    }());
    EXPECT_EQ(r2(), judged.json()["metrics"]["r2"].get<double>());
    EXPECT_EQ(judged.json()["refitted_rows"], 120);
  }
}

TEST_F(FewRows, ResumingARunThatEndedChangesNothing) {
  ASSERT_EQ(train(table("t.csv", 0, 90), kSmall).status, 0);
  const std::string weights = read_file(path("run/model.safetensors")),
                    judged = read_file(path("run/held_out.safetensors"));
  const Outcome resumed = fovea({"train", "features", "--out", path("run"), "--resume"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(read_file(path("run/model.safetensors")), weights);
  EXPECT_EQ(read_file(path("run/held_out.safetensors")), judged);
}

TEST_F(FewRows, RowsThatAreNamedForValidationAreNotTrainedOn) {
  ASSERT_EQ(train(table("t.csv", 0, 120, /*split=*/true), kLinear).status, 0);
  EXPECT_FALSE(exists("run/held_out.safetensors"));
  make_folder(path("both"));
  table("both/train.csv", 0, 80);
  table("both/val.csv", 80, 100);
  ASSERT_EQ(train(path("both"), kLinear).status, 0);
  EXPECT_FALSE(exists("run/held_out.safetensors"));
  EXPECT_EQ(fovea({"evaluate", path("run")}).err.find("have not seen"), std::string::npos);
  std::filesystem::remove(path("both/val.csv"));
  table("both/test.csv", 80, 100);
  ASSERT_EQ(train(path("both"), kLinear).status, 0);
  EXPECT_TRUE(exists("run/held_out.safetensors"));
  EXPECT_GT(r2({"--split", "test"}), 0.999);
}

TEST_F(FewRows, ABudgetOrManyRowsAreTrainedAsTheyAre) {
  for (const std::vector<std::string>& budget :
       {std::vector<std::string>{"--epochs", "2"}, {"--set", "training.steps=3"}}) {
    std::vector<std::string> options = kLinear;
    options.insert(options.end(), budget.begin(), budget.end());
    options.insert(options.end(), {"--json"});
    const Outcome outcome = train(table("t.csv", 0, 120), options);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_FALSE(exists("run/held_out.safetensors"));
    EXPECT_EQ(outcome.json()["fitted"], false);
    EXPECT_GT(outcome.json()["epochs"].size(), 0u);
  }
  const Outcome many = train(table("t.csv", 0, 1400), kSmall);
  ASSERT_EQ(many.status, 0) << many.err;
  EXPECT_FALSE(exists("run/held_out.safetensors"));
}

TEST_F(FewRows, WhatIsFittedWithoutStepsLearnsFromAllOfManyRowsToo) {
  const Outcome many = train(table("t.csv", 0, 1400), kLinear);
  ASSERT_EQ(many.status, 0) << many.err;
  EXPECT_TRUE(exists("run/held_out.safetensors"));
  EXPECT_NE(many.err.find("learned again from all 1,400 rows"), std::string::npos) << many.err;
}

TEST_F(FewRows, ModelsWithoutAttentionShowWhatEachColumnAdds) {
  for (const auto& model : {kLinear, kSmall}) {
    ASSERT_EQ(train(table("t.csv", 0, 120), model).status, 0);
    const auto added = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(), {"explain", path("run")});
      arguments.insert(arguments.end(), {"--out", path("map.json")});
      const Outcome outcome = fovea(arguments);
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      const Json map = Json::parse(read_file(path("map.json")))["maps"][0];
      EXPECT_EQ(map["name"], "contributions");
      return map["weights"][0].get<std::vector<double>>();
    };
    const std::vector<double> all = added({}), one = added({R"({"a":9,"b":8})"});
    EXPECT_GT(all[0], all[1]);  // y = 3 a - 2 b, and both have the same range
    EXPECT_GT(one[0], 0);
    EXPECT_LT(one[1], 0);
  }
}

TEST_F(FewRows, ALinearModelIsFittedWithoutSteps) {
  std::vector<std::string> options = kLinear;
  options.insert(options.end(), {"--json"});
  const Outcome outcome = train(table("t.csv", 0, 120), options);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["fitted"], true);
  EXPECT_NE(outcome.err.find("fitted without steps"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("best epoch"), std::string::npos) << outcome.err;
  EXPECT_GT(outcome.json()["metrics"]["r2"].get<double>(), 0.9999);
  EXPECT_EQ(read_json_file(path("run/manifest.json"))["training"]["reason"], "fitted");
  const Outcome answer = fovea({"predict", path("run"), "5,2"});
  ASSERT_EQ(answer.status, 0) << answer.err;
  EXPECT_NEAR(std::stod(answer.out), 11, 0.05);
  options.insert(options.end(), {"--set", "model.loss=absolute", "--set", "training.patience=1"});
  EXPECT_EQ(train(table("t.csv", 0, 120), options).json()["fitted"], false);
}

TEST_F(FewRows, FoldsOfALinearModel) {
  std::vector<std::string> options = kLinear;
  options.insert(options.end(), {"--folds", "3", "--json"});
  const Outcome outcome = train(table("t.csv", 0, 120), options);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["fitted"], true);
  EXPECT_GT(outcome.json()["folds"]["metrics"]["r2"]["mean"].get<double>(), 0.9999);
  EXPECT_GT(r2({table("new.csv", 200, 260)}), 0.9999);
}

}  // namespace
}  // namespace fovea::few_rows_test
