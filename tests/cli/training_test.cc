// How long a training lasts, what it says, and what it leaves behind, through the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <regex>

#include "fovea/base/file.h"
#include "fovea/training/run_folder.h"
#include "tests/cli/program_test.h"

namespace fovea::training_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class TrainCommand : public testing::ProgramTest {
 protected:
  /// Three classes that x and y part; a few rows of each, in turn.
  std::string flowers(int rows) {
    std::string text = "x,y,class\n";
    const char* names[] = {"aster", "birch", "cedar"};
    for (int i = 0; i < rows; ++i)
      text += concat(i % 3 + 0.01 * (i % 17), ",", (i % 3 == 1) - 0.01 * (i % 13), ",",
                     names[i % 3], "\n");
    write_file(path("flowers.csv"), text);
    return path("flowers.csv");
  }
  /// The quickest network: what is tried here is the training.
  Outcome train(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train", "features"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto target = std::ranges::find(arguments, "--target");
    if (target != arguments.end() && std::ranges::count(more, "--resume") == 0)
      arguments.insert(target, {"--set", "model.name=linear"});
    return fovea(arguments);
  }
  /// What the real program says, which is no terminal here; `seconds` between lines.
  std::string said(const std::string& seconds, const std::vector<std::string>& arguments) {
    std::string command =
        concat("FOVEA_PROGRESS_SECONDS=", seconds, " '", FOVEA_PROGRAM, "' train features");
    for (const std::string& argument : arguments) command += concat(" '", argument, "'");
    command += concat(" --out '", path("run"), "' 2>'", path("err.txt"), "' >/dev/null");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return read_file(path("err.txt"));
  }
  std::vector<std::string> names_in(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(name)))
      names.push_back(entry.path().filename().string());
    return names;
  }
};

TEST_F(TrainCommand, FewRowsAreSeenHundredsOfTimes) {
  const std::string data = flowers(143);
  const Outcome usual = train({data, "--target", "class", "--out", path("usual"), "--json"});
  ASSERT_EQ(usual.status, 0) << usual.err;
  EXPECT_GT(usual.json()["metrics"]["accuracy"].get<double>(), 0.9);
  const Outcome trained = train(
      {data, "--target", "class", "--set", "model.name=plain", "--out", path("run"), "--json"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Json json = trained.json();
  EXPECT_GT(json["metrics"]["accuracy"].get<double>(), 0.9);
  EXPECT_GE(json["end"]["epochs"].get<int64_t>(), 100);
  const Json config = read_json_file(path("run/config.json"));
  EXPECT_EQ(config["training"]["batch_size"], 16) << "what was decided is written down";
  EXPECT_EQ(config["training"]["epochs"], json["end"]["epochs"]);
  EXPECT_TRUE(json["evaluation"]["main"].contains("low"));
  EXPECT_TRUE(read_json_file(path("run/manifest.json"))["training"]["finished"].get<bool>());
}

TEST_F(TrainCommand, SaysHowItEnded) {
  const Outcome trained =
      train({flowers(300), "--target", "class", "--out", path("run"), "--epochs", "400", "--set",
             "training.patience=3", "--set", "training.learning_rate=0.2"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_TRUE(says(trained.err, "of at most 400: no gain since")) << trained.err;
  const Outcome short_one = train({path("flowers.csv"), "--target", "class", "--out", path("short"),
                                   "--epochs", "3", "--set", "training.schedule=constant"});
  EXPECT_TRUE(says(short_one.err, "still improving at the end")) << short_one.err;
  EXPECT_TRUE(says(short_one.err, "--resume --epochs 6")) << short_one.err;
  EXPECT_TRUE(says(short_one.err, "only 60 validation rows")) << "few rows";
  EXPECT_TRUE(says(short_one.err, "--folds 5"));
  ASSERT_EQ(train({"--out", path("short"), "--resume", "--epochs", "6", "--quiet"}).status, 0);
  EXPECT_EQ(read_json_file(path("short/config.json"))["training"]["epochs"], 6);
}

TEST_F(TrainCommand, GoesOnForMoreSteps) {
  ASSERT_EQ(train({flowers(300), "--target", "class", "--out", path("run"), "--set",
                   "training.steps=20", "--quiet"})
                .status,
            0);
  const Outcome more =
      train({"--out", path("run"), "--resume", "--set", "training.steps=50", "--quiet", "--json"});
  ASSERT_EQ(more.status, 0) << more.err;
  EXPECT_EQ(more.json()["end"]["steps"], 50);
}

TEST_F(TrainCommand, NoEpochsKeepTheFirstWeights) {
  const auto weights = [&](const char* out, const char* epochs) {
    EXPECT_EQ(
        train({"--set", "data.rows=100", "--epochs", epochs, "--out", path(out), "--quiet"}).status,
        0);
    return read_file(path(concat(out, "/model.safetensors")));
  };
  const std::string first = weights("first", "0");
  EXPECT_EQ(weights("again", "0"), first);
  EXPECT_NE(weights("trained", "1"), first);
  EXPECT_EQ(fovea({"evaluate", path("first")}).status, 0);
  EXPECT_NE(train({"--out", path("first"), "--resume", "--epochs", "0"}).status, 0);
}

TEST_F(TrainCommand, EndsInTime) {
  const Outcome trained =
      train({flowers(300), "--target", "class", "--out", path("run"), "--epochs", "100000000",
             "--set", "training.patience=0", "--time", "0.5s", "--quiet", "--json"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_EQ(trained.json()["end"]["reason"], "time");
  EXPECT_GT(trained.json()["best_epoch"].get<int64_t>(), 0);
  for (const char* bad : {"soon", "5 minutes", "-1s", "0", "1d", ""})
    EXPECT_TRUE(says(train({path("flowers.csv"), "--target", "class", "--out", path("bad"),
                            std::string("--time=") + bad})
                         .err,
                     "--time"))
        << bad;
  EXPECT_FALSE(std::filesystem::exists(path("bad")));
}

TEST_F(TrainCommand, ADryRunSaysWhatItUnderstoodAndWritesNothing) {
  const std::string data = flowers(143);
  const Outcome plain = train(
      {data, "--target", "class", "--set", "model.name=plain", "--dry-run", "--out", path("run")});
  ASSERT_EQ(plain.status, 0) << plain.err;
  for (const char* part : {"114 training, 29 validation", "aster: 39", "cedar", "at most", "rate",
                           "time", "memory", "parameters"})
    EXPECT_TRUE(says(plain.out, part)) << part << " not in\n" << plain.out;
  const Outcome json = train({data, "--target", "class", "--dry-run", "--json"});
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(json.json()["rows"]["train"], 114);
  EXPECT_EQ(json.json()["classes"].size(), 3u);
  EXPECT_GT(json.json()["seconds"].get<double>(), 0);
  EXPECT_EQ(names_in("").size(), 1u) << "nothing but the data";
  EXPECT_FALSE(std::filesystem::exists("runs"));
  EXPECT_EQ(train({data, "--target", "klass", "--dry-run"}).status, 1);
}

TEST_F(TrainCommand, ADryRunCountsTheChoiceKeepsTheTimeAndKnowsWhatIsFitted) {
  const std::string data = flowers(143);
  const auto dry_run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train", "features", data, "--target", "class", "--dry-run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  };
  const Json choosing = dry_run({"--json"}).json();
  EXPECT_GT(choosing["choice_seconds"].get<double>(), 0);
  EXPECT_GT(choosing["seconds"].get<double>(), choosing["choice_seconds"].get<double>());
  EXPECT_EQ(choosing["options"]["model"]["name"], "auto");
  const Outcome timed = dry_run({"--time", "0.2s"});
  EXPECT_TRUE(says(timed.out, "at most 0.2 s, as asked for")) << timed.out;
  const Outcome linear = dry_run({"--set", "model.name=linear"});
  EXPECT_TRUE(says(linear.out, "fitted without steps")) << linear.out;
  for (const char* part : {"epochs", "adamw", "choose"})
    EXPECT_FALSE(says(linear.out, part)) << part << " in\n" << linear.out;
}

TEST_F(TrainCommand, ATableOfConstantsIsRefused) {
  std::string rows = "a,b,id,y\n";
  for (int i = 0; i < 60; ++i) rows += concat("1,x,k-", i, ",", i % 2 ? "yes" : "no", "\n");
  write_file(path("constant.csv"), rows);
  const Outcome outcome =
      fovea({"train", "features", path("constant.csv"), "--target", "y", "--out", path("run")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(says(outcome.err, "no column says anything about the target 'y': all 3"))
      << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(TrainCommand, FoldsJudgeEveryRowAndKeepAModelOfAll) {
  const Outcome trained = train({flowers(120), "--target", "class", "--folds", "4", "--out",
                                 path("run"), "--quiet", "--json"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Json folds = trained.json()["folds"];
  EXPECT_EQ(folds["metrics"]["accuracy"]["values"].size(), 4u);
  EXPECT_EQ(folds["metrics"]["accuracy"]["interval"].size(), 2u);
  const Json manifest = read_json_file(path("run/manifest.json"));
  EXPECT_EQ(manifest["folds"], folds);
  EXPECT_EQ(manifest["data"]["rows"]["train"], 120) << "all of them";
  EXPECT_EQ(trained.json()["end"]["steps"], folds["steps"]);
  // No row is left that the model has not seen, and none is taken for one.
  EXPECT_EQ(fovea({"evaluate", path("run"), "--json"}).json()["split"], "training data");
  EXPECT_TRUE(says(train({"--folds", "4", "--out", path("x")}).err, "data of your own"));
  EXPECT_TRUE(
      says(train({flowers(120), "--target", "class", "--folds", "1000", "--out", path("x")}).err,
           "--folds 1000"));
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

TEST_F(TrainCommand, SettingsByName) {
  ASSERT_EQ(
      train({"--config", "tutorial", "--set", "data.rows=300", "--out", path("run"), "--quiet"})
          .status,
      0);
  const Json training = read_json_file(path("run/config.json"))["training"];
  EXPECT_EQ(training["epochs"], 16);
  EXPECT_EQ(training["batch_size"], 128);
  EXPECT_EQ(training["patience"], 0);
  const Outcome wrong = train({"--config", "tutorail", "--out", path("x")});
  EXPECT_TRUE(says(wrong.err, "tutorial")) << wrong.err;
  EXPECT_TRUE(says(train({"--config", "none.json", "--out", path("x")}).err, "none.json"));
  EXPECT_FALSE(std::filesystem::exists(path("x")));
  EXPECT_TRUE(says(fovea({"tasks", "features"}).out, "--config NAME: tutorial"));
}

TEST_F(TrainCommand, AForecastIsNotStoppedEarly) {  // most is gained at the end
  for (const char* model : {"linear", "patches"}) {
    const Outcome plan = fovea(
        {"train", "forecast", "--dry-run", "--json", "--set", std::string("model.name=") + model});
    ASSERT_EQ(plan.status, 0) << plan.err;
    EXPECT_TRUE(says(plan.out, "\"patience\": 0")) << plan.out;
  }
}

TEST_F(TrainCommand, ARefusedTrainingLeavesNoFolder) {
  const std::string data = flowers(60);
  write_file(path("empty.csv"), "x,y,class\n");
  make_folder(path("elsewhere"));
  const std::vector<std::vector<std::string>> refused{
      {data, "--target", "klass"},
      {path("empty.csv"), "--target", "class"},
      {data, "--target", "class", "--set", "model.hidn=3"},
      {data, "--target", "class", "--set", "training.batch_size=-1"},
      {data, "--target", "class", "--set", "training.monitor=accuracyy", "--epochs", "1"},
      {data, "--target", "class", "--set", "training.schedule=noam", "--set",
       "training.warmup_steps=0"},
      {data, "--target", "class", "--from", path("elsewhere")},
      {data, "--target", "class", "--from", path("nowhere")},
      {data, "--target", "class", "--config", "nothing"},
      {data, "--target", "class", "--seed", "-4"},
      {path("none.csv")},
  };
  for (const std::vector<std::string>& one : refused) {
    std::vector<std::string> arguments = one;
    arguments.insert(arguments.end(), {"--out", path("a/b/run")});
    const Outcome outcome = train(arguments);
    EXPECT_NE(outcome.status, 0) << join(one, " ");
    EXPECT_FALSE(std::filesystem::exists(path("a"))) << join(one, " ") << "\n" << outcome.err;
  }
  // A folder with something of somebody else's stays as it is.
  write_file(path("elsewhere/mine.txt"), "mine");
  EXPECT_NE(train({data, "--target", "class", "--out", path("elsewhere")}).status, 0);
  EXPECT_EQ(names_in("elsewhere"), std::vector<std::string>{"mine.txt"});
}

TEST_F(TrainCommand, ARunThatDidNotFinishSaysSo) {
  ASSERT_EQ(
      train({flowers(60), "--target", "class", "--out", path("run"), "--epochs", "2", "--quiet"})
          .status,
      0);
  const std::string row = "1,0.5";
  EXPECT_FALSE(says(fovea({"predict", path("run"), row}).err, "finish"));
  Json manifest = read_json_file(path("run/manifest.json"));
  manifest["training"] = {{"finished", false}};  // as a killed one leaves it
  write_json_file(path("run/manifest.json"), manifest);
  for (const char* command : {"predict", "explain"}) {
    const Outcome outcome = fovea({command, path("run"), row});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(says(outcome.err, "did not finish")) << command << outcome.err;
  }
  EXPECT_TRUE(fovea({"evaluate", path("run"), "--json"}).json()["unfinished"].is_string());
  EXPECT_TRUE(says(fovea({"predict", path("run"), row}).err, "the answers are those of epoch "));
  const std::string metrics = read_file(path("run/metrics.jsonl"));
  write_file(path("run/metrics.jsonl"), metrics + metrics);  // trained, then killed
  EXPECT_TRUE(says(fovea({"predict", path("run"), row}).err, "of later epochs"));
  ASSERT_EQ(train({"--out", path("run"), "--resume", "--epochs", "4", "--quiet"}).status, 0);
  EXPECT_FALSE(says(fovea({"evaluate", path("run")}).err, "finish"));
}

TEST_F(TrainCommand, WeightsOfNoEpochAreCalledUntrainedWhateverTheMetricsSay) {
  ASSERT_EQ(
      train({flowers(60), "--target", "class", "--out", path("run"), "--epochs", "0", "--quiet"})
          .status,
      0);
  Json manifest = read_json_file(path("run/manifest.json"));
  manifest["training"] = {{"finished", false}};
  manifest.erase("evaluation");
  write_json_file(path("run/manifest.json"), manifest);
  write_file(path("run/metrics.jsonl"),
             R"({"epoch": 1, "best": true, "validation": {"loss": 0.1, "accuracy": 0.9}})"
             "\n");
  EXPECT_TRUE(says(fovea({"predict", path("run"), "1,0.5"}).err, "the weights are untrained"));
  const Json card = fovea({"explain", path("run"), "1,0.5", "--json"}).json()["model"];
  EXPECT_TRUE(says(card["warning"].get<std::string>(), "no epoch")) << card;
  EXPECT_FALSE(card.contains("measured")) << card;
}

/// Standard error of the real program, which is no terminal here.
TEST_F(TrainCommand, ProgressIsSaidWithoutATerminal) {
  const std::vector<std::string> arguments{flowers(3000),
                                           "--target",
                                           "class",
                                           "--epochs",
                                           "100000",
                                           "--set",
                                           "model.name=plain",
                                           "--set",
                                           "training.patience=0",
                                           "--set",
                                           "training.path=autograd",
                                           "--time",
                                           "1.5s"};
  const std::string err = said("0.1", arguments);
  EXPECT_TRUE(says(err, "rows/s")) << err;
  EXPECT_TRUE(says(err, "left  loss")) << err;
  EXPECT_FALSE(says(err, "\r")) << "lines, no bar";
  std::vector<std::string> quiet = arguments;
  quiet.insert(quiet.end(), {"--overwrite", "--quiet"});
  EXPECT_EQ(said("0.1", quiet), "");
}

/// Every part that may last: candidates, fits, folds and what is learned again.
TEST_F(TrainCommand, EveryPartOfATrainingSaysHowFarItIs) {
  const std::string data = flowers(90);
  const auto expect_lines = [&](std::vector<std::string> more,
                                const std::vector<std::string>& patterns) {
    std::vector<std::string> arguments{data, "--target", "class", "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string err = said("0", arguments);
    for (const std::string& pattern : patterns)
      EXPECT_TRUE(std::regex_search(err, std::regex(pattern))) << pattern << " not in\n" << err;
  };
  const std::string left = " [0-9]+%.* [a-z]+/s .* left";
  expect_lines({"--epochs", "2", "--set", "model.hidden=8"},
               {"choosing among attention, transformer, plain, linear: at most about .*; then the "
                "training, at most about ",
                "choosing the model: 1 of 20, attention" + left,
                "choosing the model: [0-9]+ of 20, transformer" + left, "time: at most about"});
  expect_lines({"--set", "model.name=plain", "--set", "model.hidden=8"},
               {"learning again from all 90 rows" + left});
  expect_lines({"--set", "model.name=linear"},
               {"fitting" + left, "learning again from all 90 rows" + left});
  expect_lines({"--folds", "2", "--set", "model.name=plain", "--set", "model.hidden=8"},
               {"fold 2 of 2: training" + left});
}

TEST_F(TrainCommand, TryingHowLongItTakesChangesNoWeight) {
  const auto weights = [&](const char* out, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train",
                                       "features",
                                       flowers(200),
                                       "--target",
                                       "class",
                                       "--set",
                                       "model.name=attention",
                                       "--set",
                                       "model.hidden=8",
                                       "--epochs",
                                       "3",
                                       "--out",
                                       path(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(fovea(arguments).status, 0);
    return read_file(path(concat(out, "/model.safetensors")));
  };
  EXPECT_EQ(weights("told", {}), weights("quiet", {"--quiet"}));
}

/// A training that chooses its model ends within half of its time more than it was given.
TEST_F(TrainCommand, AChoiceKeepsTheTime) {
  constexpr double kSeconds = 6;
  const auto begin = std::chrono::steady_clock::now();
  const Outcome trained = fovea({"train", "features", flowers(900), "--target", "class", "--time",
                                 "6s", "--out", path("run"), "--quiet", "--json"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const double taken =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(taken, 1.5 * kSeconds);
  double choosing = 0;
  for (const Json& one : trained.json()["choice"]["candidates"])
    choosing += one["seconds"].get<double>();
  EXPECT_LT(choosing, 0.5 * kSeconds);
  EXPECT_EQ(trained.json()["choice"]["repeats"], 1) << "more would be too short to tell anything";
  EXPECT_GT(trained.json()["metrics"]["accuracy"].get<double>(), 0.9);
}

}  // namespace
}  // namespace fovea::training_test
