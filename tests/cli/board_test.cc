// fovea board, and what fovea train keeps for it.
#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/file.h"
#include "tests/cli/program_test.h"

namespace fovea::board_test {
namespace {

using testing::fovea;
using testing::Outcome;

class BoardCommand : public testing::ProgramTest {
 protected:
  Outcome train(const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"train", "features",      "--set", "model.name=tutorial",
                                       "--set", "data.rows=300", "--out", path(name)};
    if (std::ranges::count(more, "--resume") > 0)
      arguments = {"train", "features", "--out", path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
  void refuses(const std::string& name, const std::string& part) {
    for (const std::vector<std::string>& way :
         {std::vector<std::string>{"--port", "0"}, {"--out", path("board.html")}}) {
      std::vector<std::string> arguments{"board", path(name)};
      arguments.insert(arguments.end(), way.begin(), way.end());
      const Outcome outcome = fovea(arguments);
      EXPECT_EQ(outcome.status, 1) << name;
      EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
      EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << "one clear error: " << outcome.err;
      EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    }
    EXPECT_FALSE(std::filesystem::exists(path("board.html")));
  }
};

TEST_F(BoardCommand, WritesOneFile) {
  ASSERT_EQ(train("one", {"--epochs", "2", "--watch", "1"}).status, 0);
  ASSERT_EQ(train("two", {"--epochs", "1"}).status, 0);
  const Outcome outcome = fovea({"board", path("one"), path("two"), "--out", path("board.html")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, path("board.html") + "\n");
  const std::string html = read_file(path("board.html"));
  EXPECT_NE(html.find("<title>Training of one, two</title>"), std::string::npos);
  EXPECT_NE(html.find("id=\"attention-0-2\""), std::string::npos);
}

TEST_F(BoardCommand, RefusesWhatIsNoRun) {
  refuses("none", "there is no such run");
  std::filesystem::create_directories(path("empty"));
  refuses("empty", "the folder is empty");
  file("foreign/photo.txt", "x");
  refuses("foreign", "not a run, config.json is missing");
  file("other/config.json", "{\"model_type\": \"bert\"}");
  refuses("other", "format_version is missing");
  file("file", "x");
  refuses("file", "is a file, not a run");
  ASSERT_EQ(train("half", {"--epochs", "1"}).status, 0);
  write_file(path("half/metrics.jsonl"), "{\"epoch\": }\n");
  refuses("half", "metrics.jsonl:1");
}

TEST_F(BoardCommand, AResumedTrainingHasNoStepTwice) {
  ASSERT_EQ(train("run", {"--epochs", "2", "--watch", "2"}).status, 0);
  ASSERT_EQ(train("run", {"--resume", "--epochs", "3"}).status, 0);
  const auto column = [&](const std::string& name, const std::string& key) {
    std::vector<int64_t> values;
    for (const std::string& line : split(read_file(path(name)), '\n'))
      if (!line.empty()) values.push_back(parse_json(line, name)[key].get<int64_t>());
    return values;
  };
  const std::vector<int64_t> steps = column("run/steps.jsonl", "step");
  EXPECT_TRUE(std::ranges::adjacent_find(steps, std::greater_equal<>()) == steps.end());
  EXPECT_EQ(column("run/attention.jsonl", "epoch"), (std::vector<int64_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(fovea({"doctor", path("run")}).status, 0);
}

TEST_F(BoardCommand, TrainingWritesTensorBoardsFiles) {
  ASSERT_EQ(train("run", {"--epochs", "2", "--tensorboard", path("events")}).status, 0);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("events"))) {
    ++files;
    const std::string content = read_file(entry.path());
    for (const char* tag : {"train/loss", "learning_rate", "validation/accuracy", "brain.Event:2"})
      EXPECT_NE(content.find(tag), std::string::npos) << tag;
  }
  EXPECT_EQ(files, 1);
  file("occupied", "x");
  const Outcome refused = train("other", {"--epochs", "1", "--tensorboard", path("occupied")});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("occupied"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(path("other"))) << "refused before anything is written";
}

TEST_F(BoardCommand, ThePageSaysWhereItIs) {
  const Outcome outcome = train("run", {"--epochs", "1", "--page"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("page: http://127.0.0.1:"), std::string::npos) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("run/attention.jsonl"))) << "--page watches a row";
  EXPECT_EQ(train("folds", {"--page", "--folds", "2"}).status, 2);
  EXPECT_EQ(train("port", {"--page", "--port", "70000"}).status, 2);
}

}  // namespace
}  // namespace fovea::board_test
