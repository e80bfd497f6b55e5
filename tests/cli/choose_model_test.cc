// model.name=auto through the program: what a user sees of the choice, and that the run needs
// nothing of it later.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "tests/cli/program_test.h"

namespace fovea::choose_model_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class ChooseModelCommand : public testing::ProgramTest {
 protected:
  std::string table() {
    std::string text = "a,b,colour,y\n";
    for (int i = 0; i < 80; ++i)
      text += concat(i % 7, ",", i % 5 * 0.5, ",", i % 3 ? "red" : "blue", ",",
                     i % 7 + i % 5 > 5 ? "yes" : "no", "\n");
    write_file(path("t.csv"), text);
    return path("t.csv");
  }
  Outcome train(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{
        "train", "features", table(), "--out", path("run"),     "--target",
        "y",     "--epochs", "2",     "--set", "model.hidden=8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
};

TEST_F(ChooseModelCommand, SaysWhatItChoseAndWhy) {
  const Outcome outcome = train();
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* word : {"choosing the model: 1 of ", "behind the best", "(chosen)",
                           "transformer", "plain", "linear", "standard error"})
    EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " not in " << outcome.err;
  const std::string name = read_json_file(path("run/config.json"))["model"]["name"];
  EXPECT_NE(name, "auto");
  EXPECT_NE(outcome.err.find("model.name=" + name + ": "), std::string::npos) << outcome.err;
  EXPECT_EQ(read_json_file(path("run/manifest.json"))["choice"]["model"], name);
  EXPECT_EQ(fovea({"predict", path("run"), "1,0.5,red"}).status, 0);
  EXPECT_EQ(fovea({"evaluate", path("run"), "--json"}).status, 0);
  EXPECT_EQ(
      fovea({"train", "features", "--out", path("run"), "--resume", "--epochs", "3", "--quiet"})
          .status,
      0);
}

TEST_F(ChooseModelCommand, QuietSaysNothingAndJsonHasTheTable) {
  const Outcome outcome = train({"--quiet", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const Json choice = outcome.json()["choice"];
  ASSERT_EQ(choice["candidates"].size(), 4u);
  for (const Json& one : choice["candidates"]) EXPECT_GT(one["loss"].get<double>(), 0);
}

TEST_F(ChooseModelCommand, ANamedModelIsTaken) {
  const Outcome outcome = train({"--set", "model.name=transformer", "--set", "model.heads=2"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("choosing"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_json_file(path("run/config.json"))["model"]["name"], "transformer");
  const Outcome explained = fovea({"explain", path("run"), "1,0.5,red", "--json"});
  ASSERT_EQ(explained.status, 0) << explained.err;
}

TEST_F(ChooseModelCommand, MembersAreTheIntervalOfEachWeight) {
  ASSERT_EQ(train({"--set", "model.name=attention", "--set", "model.members=3", "--quiet"}).status,
            0);
  for (const std::vector<std::string>& what :
       {std::vector<std::string>{}, std::vector<std::string>{"1,0.5,red"}}) {
    std::vector<std::string> arguments{"explain", path("run")};
    arguments.insert(arguments.end(), what.begin(), what.end());
    arguments.push_back("--json");
    const Outcome explained = fovea(arguments);
    ASSERT_EQ(explained.status, 0) << explained.err;
    Json explanation = explained.json();
    if (explanation.is_array()) explanation = explanation[0];
    EXPECT_EQ(explanation["maps"][0]["interval"]["of"], "3 members") << explanation.dump(2);
  }
}

}  // namespace
}  // namespace fovea::choose_model_test
