// Heads from the command line: looked at one by one, measured, taken out.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/file.h"
#include "tests/cli/program_test.h"

namespace fovea::heads_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class HeadCommands : public testing::ProgramTest {
 protected:
  void SetUp() override {
    const Outcome outcome =
        fovea({"train", "documents", "--set", "model.name=bert", "--set", "data.rows=60", "--set",
               "data.validation_rows=20", "--set", "model.layers=2", "--set", "model.hidden=16",
               "--set", "model.heads=4", "--epochs", "1", "--out", run, "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  static bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  std::string run = path("run");
};

TEST_F(HeadCommands, ExplainShowsTheLayersAndHeadsThatWereAskedFor) {
  const Outcome json =
      fovea({"explain", run, "a fine film", "--layers", "2", "--heads", "1,3", "--json"});
  ASSERT_EQ(json.status, 0) << json.err;
  ASSERT_EQ(json.json()["maps"].size(), 2u);
  EXPECT_EQ(json.json()["maps"][1]["layer"], 2);
  EXPECT_EQ(json.json()["maps"][1]["head"], 3);
  const Outcome text = fovea({"explain", run, "a fine film", "--layers", "2", "--heads", "3"});
  EXPECT_TRUE(holds(text.out, "(head 3 of 4), layer 2")) << text.out;
  EXPECT_FALSE(holds(text.out, "rollout"));
  const Outcome wrong = fovea({"explain", run, "a fine film", "--layers", "3"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(holds(wrong.err, "no layer 3; there are layers 1 to 2")) << wrong.err;
  EXPECT_EQ(fovea({"explain", run, "--heads", "1"}).status, 1) << "of what?";
  EXPECT_EQ(fovea({"explain", run, "x", "--heads", "0"}).status, 2);
}

TEST_F(HeadCommands, HeadsTellsWhatEachDoes) {
  const Outcome text = fovea({"heads", run, "--rows", "5", "--quiet", "--out", path("heads.html")});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(holds(text.out, "8 heads, measured on 5 rows")) << text.out;
  EXPECT_TRUE(holds(text.out, "importance"));
  EXPECT_TRUE(holds(text.out, "layer 2"));
  EXPECT_TRUE(holds(read_file(path("heads.html")), "attention importance"));
  const Outcome json =
      fovea({"heads", run, "--rows", "5", "--json", "--quiet", "--no-zeroing", "--split", "train"});
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(json.json()["split"], "train");
  ASSERT_EQ(json.json()["heads"].size(), 8u);
  const Json head = json.json()["heads"][7];
  EXPECT_EQ(head["layer"], 2);
  EXPECT_GT(head["special"], 0);
  EXPECT_LE(head["uniform"], 1);
  EXPECT_FALSE(head.contains("drop"));
}

TEST_F(HeadCommands, PruneWritesASmallerRun) {
  const Outcome text = fovea({"prune", run, "--heads", "3", "--rows", "5", "--curve", "--quiet"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(holds(text.err, "taken out: attention.")) << text.err;
  EXPECT_TRUE(holds(text.out, "ms per prediction"));
  EXPECT_TRUE(holds(text.out, run + "-pruned"));
  const Outcome shown = fovea({"explain", run + "-pruned", "a fine film", "--json"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  const Outcome all =
      fovea({"prune", run, "--heads", "8", "--rows", "5", "--quiet", "--out", path("none")});
  EXPECT_EQ(all.status, 0) << all.err;
  const Outcome json =
      fovea({"prune", run, "--heads", "1", "--rows", "5", "--epochs", "1", "--json", "--quiet",
             "--set", "training.learning_rate=0.0001", "--out", path("second")});
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(json.json()["retrained"]["heads"], 7);
  EXPECT_EQ(fovea({"prune", run}).status, 1);
  EXPECT_EQ(fovea({"prune", run, "--heads", "1", "--keep", "1"}).status, 1);
}

}  // namespace
}  // namespace fovea::heads_test
