// Pictures and sounds as inputs of the program: a file is an input, a folder or a table is data.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::media_runs_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

struct MediaTask {
  std::string task;
  std::vector<std::string> data, model;  // options
};

const std::vector<std::string> kFewRows = {"data.rows=24", "data.validation_rows=6",
                                           "data.test_rows=6"};
const MediaTask kMediaTasks[] = {
    {"images", {}, {"model.hidden=8", "model.heads=2", "training.batch_size=8"}},
    {"caption",
     {"data.image_size=32"},
     {"model.channels=8,8", "model.convolutions=1", "model.hidden=8", "model.embedding=8"}},
    {"speech",
     {"data.bands=12"},
     {"model.encoder_hidden=8", "model.hidden=12", "model.embedding=8", "model.score_hidden=8",
      "model.readout_size=8"}},
};

void PrintTo(const MediaTask& task, std::ostream* out) {
  *out << task.task;
}

class MediaRuns : public ::testing::TestWithParam<MediaTask> {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    if (GetParam().task != "images") GTEST_SKIP() << "needs ICU";
#endif
    std::vector<std::string> arguments{"train", GetParam().task,     "--out",  path("run"),
                                       "--set", "training.epochs=1", "--quiet"};
    for (const auto* options : {&kFewRows, &GetParam().data, &GetParam().model})
      for (const std::string& option : *options)
        arguments.insert(arguments.end(), {"--set", option});
    const Outcome trained = fovea(arguments);
    ASSERT_EQ(trained.status, 0) << trained.err;
    write_medium();
  }

  /// A picture or a sound of the built-in data, as a file of its own.
  void write_medium() {
    const std::string task = GetParam().task == "images" ? "caption" : GetParam().task;
    std::vector<std::string> arguments{"data", task, "--out", path("data")};
    for (const std::string& option : kFewRows) arguments.insert(arguments.end(), {"--set", option});
    const Outcome written = fovea(arguments);
    ASSERT_EQ(written.status, 0) << written.err;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path("data"))) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".png" && ending != ".wav" && ending != ".flac") continue;
      medium = path("one" + ending);
      std::filesystem::copy_file(entry.path(), medium);
      return;
    }
    FAIL() << "the built-in data of " << task << " has no file to ask about";
  }

  std::string path(const std::string& name) {
    return (folder / name).string();
  }
  static bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  TemporaryFolder folder;
  std::string medium;
};

TEST_P(MediaRuns, AFileIsAnInputWithFaithfulnessAndWithout) {
  const Outcome measured = fovea({"explain", path("run"), medium, "--faithfulness", "--quiet"});
  ASSERT_EQ(measured.status, 0) << measured.err;
  EXPECT_TRUE(holds(measured.out, "Does this picture show what the model used?")) << measured.out;
  EXPECT_TRUE(holds(measured.out, "over 1 example")) << measured.out;
  const Outcome bare = fovea(
      {"explain", path("run"), medium, "--no-faithfulness", "--quiet", "--out", path("bare.html")});
  ASSERT_EQ(bare.status, 0) << bare.err;
  EXPECT_FALSE(holds(read_file(path("bare.html")), "\"comprehensiveness\""));
  const Outcome report =
      fovea({"explain", path("run"), medium, "--quiet", "--out", path("report.html")});
  ASSERT_EQ(report.status, 0) << report.err;
  EXPECT_TRUE(holds(read_file(path("report.html")), "\"comprehensiveness\""));
  const Outcome two = fovea({"explain", path("run"), medium, medium, "--faithfulness", "--quiet"});
  EXPECT_EQ(two.status, 0) << two.err;
}

TEST_P(MediaRuns, AFolderOrATableIsData) {
  if (GetParam().task == "images") GTEST_SKIP() << "its data are other pictures";
  for (const std::string& data : {path("data"), path("data/test.tsv")}) {
    const Outcome outcome =
        fovea({"explain", path("run"), data, "--faithfulness", "--rows", "2", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(holds(outcome.out, "over 2 examples")) << outcome.out;
  }
}

TEST_P(MediaRuns, WhatIsNoMediumIsNamed) {
  write_file(path("broken.png"), std::string("\x89PNG\0\0", 6));
  for (const char* flag : {"--faithfulness", "--no-faithfulness"}) {
    const Outcome broken = fovea({"explain", path("run"), path("broken.png"), flag, "--quiet"});
    EXPECT_EQ(broken.status, 1);
    EXPECT_TRUE(holds(broken.err, "broken.png")) << broken.err;
    EXPECT_FALSE(holds(broken.err, "a text file is needed")) << broken.err;
    const Outcome missing = fovea({"explain", path("run"), path("none.png"), flag, "--quiet"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_TRUE(holds(missing.err, "none.png: no such file")) << missing.err;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MediaRuns, ::testing::ValuesIn(kMediaTasks),
                         [](const auto& info) { return info.param.task; });

}  // namespace
}  // namespace fovea::media_runs_test
