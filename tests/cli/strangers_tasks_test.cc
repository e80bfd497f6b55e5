// Mistakes in files of the other tasks: columns in another order or unknown to the run, wherever a
// file is read; one picture that cannot be read; what --dry-run says of every task.
#include <gtest/gtest.h>

#include <set>

#include "fovea/base/text.h"
#include "fovea/data/formats/table.h"
#include "tests/cli/program_test.h"
#include "tests/support/small_trainings.h"

namespace fovea::strangers_tasks_test {
namespace {

using testing::fovea;
using testing::Outcome;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class StrangersTasks : public testing::ProgramTest {
 protected:
  void train(const std::string& task, std::vector<std::string> more) {
    std::vector<std::string> arguments{"train", task, "--epochs", "1", "--out", path("run")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = fovea(arguments);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  /// Asks for the same of two files: as training had it, and with the columns in another order,
  /// one of them in another case, and one that the run does not know.
  void expect_same(const std::vector<std::string>& command, const std::string& usual,
                   const std::string& other) {
    const auto ask = [&](const std::string& name) {
      std::vector<std::string> arguments = command;
      arguments.push_back(path(name));
      return fovea(arguments);
    };
    const Outcome first = ask(usual), second = ask(other);
    ASSERT_EQ(first.status, 0) << first.err;
    ASSERT_EQ(second.status, 0) << second.err;
    EXPECT_EQ(second.out, first.out) << join(command, " ");
    EXPECT_TRUE(holds(second.err, "this run does not know the column 'shift'"))
        << join(command, " ") << ": " << second.err;
    EXPECT_FALSE(holds(first.err, "does not know")) << first.err;
  }
};

TEST_F(StrangersTasks, RatingsInOtherColumns) {
  std::string rows, usual = "user,item,rating,text\n", other = "shift,Text,rating,item,user\n";
  for (int i = 0; i < 90; ++i) {
    const int user = i % 9, item = i / 9;
    const std::string text = i % 2 ? "a fine tent" : "it leaks";
    rows += concat("u", user, ",t", item, ",", 1 + (user + item) % 5, ",", text, "\n");
    if (i % 3) continue;
    usual += concat("u", user, ",t", item, ",", 1 + (user + item) % 5, ",", text, "\n");
    other += concat("late,", text, ",", 1 + (user + item) % 5, ",t", item, ",u", user, "\n");
  }
  train("ratings", {file("all.csv", "user,item,rating,text\n" + rows), "--set", "model.name=mpcn",
                    "--set", "model.embedding=8", "--set", "data.minimum_count=1"});
  file("usual.csv", usual), file("other.csv", other);
  const std::string run = path("run");
  expect_same({"evaluate", run}, "usual.csv", "other.csv");
  expect_same({"explain", run}, "usual.csv", "other.csv");
  expect_same({"predict", run, "--input"}, "usual.csv", "other.csv");
  expect_same({"explain", run, "--input"}, "usual.csv", "other.csv");
  const Outcome one = fovea({"predict", run, R"({"user": "u1", "item": "t2", "shift": 3})"});
  EXPECT_TRUE(holds(one.err, "'shift': this run does not know it")) << one.err;
  EXPECT_EQ(fovea({"predict", run, R"({"user": "u1", "item": "t2", "rating": 3})"}).err, "");
}

TEST_F(StrangersTasks, VisitsInOtherColumns) {
  std::string usual = "patient,time,codes,label\n", other = "shift,LABEL,codes,patient,time\n";
  for (int i = 0; i < 60; ++i) {
    const std::string codes = i % 2 ? "flu cough" : "gout pain", label = i % 2 ? "yes" : "no";
    usual += concat("p", i, ",", 3 * i, ",", codes, ",", label, "\n");
    other += concat("night,", label, ",", codes, ",p", i, ",", 3 * i, "\n");
  }
  file("usual.csv", usual), file("other.csv", other);
  train("visits", {path("usual.csv"), "--set", "model.embedding=8"});
  const std::string run = path("run");
  expect_same({"evaluate", run}, "usual.csv", "other.csv");
  expect_same({"explain", run}, "usual.csv", "other.csv");
  expect_same({"predict", run, "--input"}, "usual.csv", "other.csv");
  expect_same({"explain", run, "--input"}, "usual.csv", "other.csv");
}

TEST_F(StrangersTasks, NodesInOtherColumns) {
  ASSERT_EQ(
      fovea({"data", "graph", "--set", "data.nodes=240", "--set", "data.train_each=10", "--set",
             "data.validation_nodes=20", "--set", "data.test_nodes=40", "--out", path("graph")})
          .status,
      0);
  train("graph", {path("graph"), "--set", "model.hidden=4", "--set", "model.heads=2"});
  const std::string run = path("run");
  file("usual.csv", "node\nn5\nn6\n"), file("other.csv", "shift,NODE\nlate,n5\nearly,n6\n");
  expect_same({"predict", run, "--input"}, "usual.csv", "other.csv");
  expect_same({"explain", run, "--input"}, "usual.csv", "other.csv");
  const Outcome one = fovea({"explain", run, R"({"node": "n5", "shift": "late"})", "--json"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_TRUE(holds(one.out, "'shift': this run does not know it")) << one.out;
}

TEST_F(StrangersTasks, OneBrokenPictureOfManyIsLeftOut) {
#ifndef FOVEA_WITH_ICU
  GTEST_SKIP() << "needs ICU";
#endif
  const std::vector<std::string> small{
      "--set", "data.rows=30", "--set", "data.validation_rows=6", "--set", "data.test_rows=6"};
  std::vector<std::string> data{"data", "caption", "--out", path("caption")};
  data.insert(data.end(), small.begin(), small.end());
  ASSERT_EQ(fovea(data).status, 0);
  const auto try_training = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train",
                                       "caption",
                                       path("caption"),
                                       "--epochs",
                                       "1",
                                       "--out",
                                       path("run"),
                                       "--overwrite",
                                       "--set",
                                       "data.image_size=32",
                                       "--set",
                                       "model.channels=8,8",
                                       "--set",
                                       "model.convolutions=1",
                                       "--set",
                                       "model.hidden=8",
                                       "--set",
                                       "model.embedding=8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  };
  const CsvTable train = read_table(path("caption/train.tsv"));
  const std::string first = std::string(train.cell(0, 0)), second = std::string(train.cell(1, 0));
  file("caption/" + first, "no picture");
  const Outcome one = try_training({});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_TRUE(holds(one.err, "1 of 42 files cannot be read") && holds(one.err, first)) << one.err;
  const Outcome strict = try_training({"--strict"});
  EXPECT_EQ(strict.status, 1);
  EXPECT_TRUE(holds(strict.err, first)) << strict.err;
  for (int row = 1; row < 4; ++row)
    file(concat("caption/", std::string(train.cell(row, 0))), "no picture");
  const Outcome many = try_training({});
  EXPECT_EQ(many.status, 1);
  EXPECT_TRUE(holds(many.err, "4 of 42 files") && holds(many.err, "max_bad_share")) << many.err;
}

/// Of the task's smallest training, on its built-in data.
TEST_F(StrangersTasks, ADryRunOfEveryTaskSaysItsPlanAndWritesNothing) {
  std::set<std::string> tried;
  for (const testing::SmallTraining& small : testing::kSmallTrainings) {
    if (!small.can_run() || !tried.insert(small.task).second) continue;
    std::vector<std::string> arguments{"train", small.task, "--dry-run", "--out", path("run")};
    for (const std::string& option : small.assignments)
      arguments.insert(arguments.end(), {"--set", option});
    const Outcome planned = fovea(arguments);
    ASSERT_EQ(planned.status, 0) << small.task << ": " << planned.err;
    for (const char* part : {"built-in", " training, ", "total", "\ntime ", "\nmemory "})
      EXPECT_TRUE(holds(planned.out, part)) << small.task << ": " << part << " not in\n"
                                            << planned.out;
    EXPECT_FALSE(std::filesystem::exists(path("run"))) << small.task;
  }
  EXPECT_GE(tried.size(), 12u);
}

}  // namespace
}  // namespace fovea::strangers_tasks_test
