// What the program writes, and what it leaves alone: folders and files that are not its own, runs
// that somebody has changed, trainings that are refused.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "fovea/base/file.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/training/run_folder.h"
#include "tests/cli/program_test.h"
#include "tests/support/change_asset.h"

namespace fovea::writing_test {
namespace {

namespace fs = std::filesystem;
using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class Writing : public testing::ProgramTest {
 protected:
  /// Every file below the folder with its content, every other thing by its name.
  std::map<std::string, std::string> all() {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      found[entry.path().string()] =
          fs::is_regular_file(entry.symlink_status()) ? read_file(entry.path()) : "";
    return found;
  }
  /// One error with these words, and nothing has changed.
  void expect_refused(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& words) {
    const auto before = all();
    const Outcome outcome = fovea(arguments);
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    for (const std::string& word : words)
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " not in: " << outcome.err;
    EXPECT_EQ(all(), before);
  }
  Outcome train(const std::string& out, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"train",
                                       "features",
                                       "--out",
                                       path(out),
                                       "--set",
                                       "data.rows=300",
                                       "--epochs",
                                       "1",
                                       "--quiet",
                                       "--set",
                                       "model.name=attention"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
};

TEST_F(Writing, ATrainingReplacesOnlyWhatItIsToldToReplace) {
  make_folder(path("bert"));
  file("bert/config.json", R"({"model_type": "bert"})");
  file("bert/model.safetensors", "weights");
  file("bert/vocab.txt", "a\nb\n");
  const std::vector<std::string> into_bert{"train", "features", "--out", path("bert"), "--quiet"};
  expect_refused(into_bert, {"bert", "--overwrite"});

  ASSERT_EQ(train("run").status, 0);
  expect_refused({"train", "features", "--out", path("run"), "--quiet"},
                 {"already holds a run", "--resume", "--overwrite"});
  fs::remove(path("run/last.safetensors"));
  expect_refused({"train", "features", "--out", path("run"), "--quiet"},
                 {"last.safetensors is gone", "--overwrite"});
  expect_refused({"train", "features", "--out", path("run"), "--resume", "--overwrite"},
                 {"--resume", "--overwrite"});
  file("notes.txt", "mine");
  expect_refused({"train", "features", "--out", path("notes.txt"), "--quiet"}, {"notes.txt"});

  const Outcome outcome = train("bert", {"--overwrite"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(fovea({"doctor", path("bert")}).status, 0);
  EXPECT_EQ(read_file(path("bert/vocab.txt")), "a\nb\n") << "no file of a run";
  EXPECT_EQ(train("run", {"--overwrite", "--set", "model.hidden=3"}).status, 0);
  EXPECT_EQ(fovea({"doctor", path("run")}).status, 0);
}

TEST_F(Writing, WhatIsToBeReplacedStaysWhereTheNewTrainingIsRefused) {
  ASSERT_EQ(train("run").status, 0);
  expect_refused({"train", "features", file("bad.csv", "a,b\n1,2\n"), "--out", path("run"),
                  "--overwrite", "--quiet"},
                 {"bad.csv"});
}

TEST_F(Writing, ARefusedTrainingLeavesNoRun) {
  const std::string bad = file("bad.csv", "a,y\n1,\n2,?\n");
  expect_refused({"train", "features", bad, "--out", path("runs/first"), "--quiet"}, {"y"});
  expect_refused({"train", "features", "--out", path("runs/first"), "--quiet", "--set",
                  "model.dropout=0.5", "--set", "training.path=fused", "--set", "data.rows=200"},
                 {"path"});  // after its description was written
  make_folder(path("empty"));
  expect_refused({"train", "features", bad, "--out", path("empty"), "--quiet"}, {"y"});
  for (const char* name : {"runs/first", "empty"}) {
    const Outcome outcome = fovea({"predict", path(name), "1"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err.find("config.json"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(train("empty").status, 0);
}

TEST_F(Writing, PrepareReplacesPreparedFilesOnly) {
  std::string pairs;
  for (int i = 0; i < 40; ++i) pairs += concat("a", i, " b", i % 7, "\tc", i, " d", i % 7, "\n");
  const std::string data = file("pairs.tsv", pairs), prepared = path("out.safetensors");
  const auto prepare = [&](const std::string& out, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"prepare", "translate", data, "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_refused(prepare(data), {"what is to be prepared"});
  expect_refused(prepare(data, {"--overwrite"}), {"what is to be prepared"});
  fs::create_hard_link(data, path("same.tsv"));
  expect_refused(prepare(path("same.tsv"), {"--overwrite"}), {"what is to be prepared"});
  fs::create_symlink(file("target", "precious"), path("link"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  make_folder(path("folder"));
  for (const char* name : {"link", "pipe", "folder"})
    for (const bool overwrite : {false, true})
      expect_refused(prepare(path(name), overwrite ? std::vector<std::string>{"--overwrite"}
                                                   : std::vector<std::string>{}),
                     {name, "not replaced"});
  expect_refused(prepare("/dev/null"), {"a device"});
  expect_refused(prepare(file("thesis.tex", "mine")), {"no prepared file", "--overwrite"});
  write_safetensors(path("weights.safetensors"), {});
  expect_refused(prepare(path("weights.safetensors")), {"no prepared file"});

  ASSERT_EQ(fovea(prepare(prepared)).status, 0);
  EXPECT_EQ(fovea(prepare(prepared)).status, 0) << "its own may be replaced";
  EXPECT_EQ(fovea(prepare(path("thesis.tex"), {"--overwrite"})).status, 0);
  expect_refused({"prepare", "translate", prepared, "--out", prepared}, {"to be prepared"});
  make_folder(path("parts"));
  file("parts/train.tsv", pairs);
  expect_refused(
      {"prepare", "translate", path("parts"), "--out", path("parts/train.tsv"), "--overwrite"},
      {"to be prepared"});
}

TEST_F(Writing, OtherCommandsWriteOnlyPlainFilesToo) {
  ASSERT_EQ(train("run").status, 0);
  for (const char* ending : {"html", "svg", "json"}) {
    const std::string name = concat("link.", ending);
    fs::create_symlink(file("target", "precious"), path(name));
    expect_refused({"explain", path("run"), "--out", path(name), "--quiet"}, {"a link"});
    expect_refused({"heads", path("run"), "--out", path(name), "--quiet"}, {"a link"});
  }
  expect_refused({"explain", path("run"), "--out", path("none/a.svg"), "--quiet"}, {"none/a.svg"});
  fs::create_symlink(path("target"), path("link.onnx"));
  expect_refused({"export", path("run"), "--onnx", path("link.onnx")}, {"a link"});
}

TEST_F(Writing, DataAppearsAsAWholeFolder) {
  file("keep", "x");
  make_folder(path("full"));
  file("full/mine", "x");
  expect_refused({"data", "features", "--out", path("full")}, {"not an empty folder"});
  expect_refused({"data", "features", "--out", path("keep")}, {"not an empty folder"});
  EXPECT_EQ(fovea({"data", "features", "--out", path("a/b/"), "--set", "data.rows=50"}).status, 0);
  make_folder(path("empty"));
  EXPECT_EQ(fovea({"data", "dates", "--out", path("empty"), "--set", "data.rows=50"}).status, 0);
  EXPECT_TRUE(fs::exists(path("empty/dataset.json")));
  for (const auto& [name, content] : all()) EXPECT_FALSE(is_temporary(name)) << name;
}

/// The options would take hours: the place is looked at first.
TEST_F(Writing, CompareLooksAtItsFolderFirst) {
  const auto compare = [&](const std::string& out, const char* epochs) {
    return std::vector<std::string>{"compare",  "features",
                                    "--vary",   "model.name=attention,plain",
                                    "--seeds",  "1",
                                    "--epochs", epochs,
                                    "--set",    "data.rows=200",
                                    "--quiet",  "--out",
                                    path(out)};
  };
  file("taken", "x");
  expect_refused(compare("taken", "100000000"), {"taken"});
  expect_refused(compare("taken/below", "100000000"), {"taken"});
  make_folder(path("mine"));
  file("mine/compare.md", "my notes");
  expect_refused(compare("mine", "100000000"), {"compare.md"});
  make_folder(path("theirs"));
  file("theirs/compare.json", "{}");
  expect_refused(compare("theirs", "100000000"), {"compare.json"});
  make_folder(path("links"));
  fs::create_symlink(path("taken"), path("links/compare.json"));
  expect_refused(compare("links", "100000000"), {"a link"});
  if (::geteuid() != 0) {
    make_folder(path("closed"));
    fs::permissions(path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
    expect_refused(compare("closed", "100000000"), {"closed"});
  }
  for (int times = 0; times < 2; ++times) {  // the second replaces the first
    const Outcome outcome = fovea(compare("new/deep", "1"));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(read_json_file(path("new/deep/compare.json"))["rows"].size(), 2u);
    EXPECT_TRUE(fs::exists(path("new/deep/compare.md")));
  }
  expect_refused({"compare", "features", "--vary", "model.name=none", "--out", path("other")},
                 {"none"});
}

TEST_F(Writing, ChangedAssetsAreNotUsedWithoutAWord) {
  std::string table = "size,y\n";
  for (int i = 0; i < 90; ++i) table += concat(i % 9, ",", i % 9 < 4 ? "small" : "large", "\n");
  ASSERT_EQ(fovea({"train", "features", file("t.csv", table), "--out", path("run"), "--epochs", "1",
                   "--quiet"})
                .status,
            0);
  const std::string columns = path("run/assets/columns.json");
  const std::vector<std::string> predict{"predict", path("run"), "1"};
  const std::string before = fovea(predict).out;
  Json changed = read_json_file(columns);
  auto& classes = changed["target"]["classes"];
  ASSERT_TRUE(classes.is_array()) << changed.dump(2);
  std::reverse(classes.begin(), classes.end());
  write_json_file(columns, changed);
  expect_refused(predict, {"columns.json", "changed", "manifest.json"});
  expect_refused({"train", "features", "--out", path("run"), "--resume", "--epochs", "2"},
                 {"columns.json", "changed"});
  EXPECT_EQ(fovea({"doctor", path("run")}).status, 1);
  fs::remove(path("run/assets/examples.json"));  // for people to try: no answer depends on it
  testing::change_asset(path("run"), "columns.json", changed);  // as the message says
  EXPECT_EQ(fovea(predict).status, 0);
  EXPECT_NE(fovea(predict).out, before);
  Json manifest = read_json_file(path("run/manifest.json"));
  manifest.erase("files");  // a run of an older version
  write_json_file(path("run/manifest.json"), manifest);
  EXPECT_EQ(fovea(predict).status, 0);
}

TEST_F(Writing, ChangedOptionsOfTheModelAreNoticed) {
  ASSERT_EQ(train("run").status, 0);
  const Json config = read_json_file(path("run/config.json"));
  const auto with = [&](const char* group, const char* key, const Json& value) {
    Json changed = config;
    changed[group][key] = value;
    write_json_file(path("run/config.json"), changed);
  };
  const std::vector<std::string> evaluate{"evaluate", path("run"), "--json"};
  ASSERT_NE(config["model"]["name"], "plain");
  with("model", "name", "plain");
  expect_refused(evaluate, {"config.json", "model."});
  with("data", "rows", 400);
  expect_refused(evaluate, {"config.json", "data.rows"});
  with("training", "patience", 7);  // decides no answer
  EXPECT_EQ(fovea(evaluate).status, 0);
}

TEST_F(Writing, DoctorLooksAtCheckpointMetricsAndManifest) {
  ASSERT_EQ(train("run", {"--set", "training.epochs=2"}).status, 0);
  ASSERT_EQ(fovea({"doctor", path("run")}).status, 0);
  const auto complains = [&](const std::string& name, const std::string& content,
                             const std::string& word) {
    const std::string good = read_file(path("run/" + name));
    file("run/" + name, content);
    const Outcome outcome = fovea({"doctor", path("run")});
    EXPECT_EQ(outcome.status, 1) << name;
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << " not in " << outcome.out;
    file("run/" + name, good);
  };
  const std::string last = read_file(path("run/last.safetensors"));
  std::string flipped = last;
  flipped[flipped.size() - 5] ^= 1;
  complains("last.safetensors", flipped, "checksum");
  complains("last.safetensors", last.substr(0, last.size() / 2), "last.safetensors");
  complains("last.safetensors", "", "last.safetensors");
  const std::string metrics = read_file(path("run/metrics.jsonl"));
  const std::string second = metrics.substr(metrics.find('\n') + 1);
  complains("metrics.jsonl", second, "epoch 1");
  complains("metrics.jsonl", metrics.substr(0, metrics.find('\n') + 1), "metrics.jsonl has 1");
  complains("metrics.jsonl", "{}\n" + second, "metrics.jsonl:1");
  complains("metrics.jsonl", "nonsense\n" + second, "metrics.jsonl:1");
  Json manifest = read_json_file(path("run/manifest.json"));
  manifest["files"]["../../../../../../../../dev/zero"] = "fnv1a64:0123456789abcdef";
  complains("manifest.json", manifest.dump(), "no run has");

  file("run/metrics.jsonl", metrics + "{\"epoch\": 3, \"lo");  // a crash; --resume cuts it off
  const Outcome outcome = fovea({"doctor", path("run")});
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_NE(outcome.out.find("half-written"), std::string::npos) << outcome.out;
  ASSERT_EQ(
      fovea({"train", "features", "--out", path("run"), "--resume", "--epochs", "3", "--quiet"})
          .status,
      0);
  EXPECT_EQ(fovea({"doctor", path("run")}).status, 0);
  const std::string longer = read_file(path("run/metrics.jsonl"));
  EXPECT_EQ(std::count(longer.begin(), longer.end(), '\n'), 3);
  fs::remove(path("run/last.safetensors"));
  EXPECT_EQ(fovea({"doctor", path("run")}).status, 1);
  EXPECT_EQ(fovea({"evaluate", path("run")}).status, 0) << "weights and assets suffice";
}

TEST_F(Writing, ResumeWithOtherInstructionsWarns) {
  ASSERT_EQ(train("run").status, 0);
  const std::vector<std::string> resume{"train",    "features", "--out", path("run"),
                                        "--resume", "--epochs", "2",     "--quiet"};
  EXPECT_EQ(fovea(resume).err, "") << "the same machine";
  Json manifest = read_json_file(path("run/manifest.json"));
  manifest["instruction_set"] = "abacus";
  write_json_file(path("run/manifest.json"), manifest);
  const Outcome outcome = fovea(resume);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("warning: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("instruction set abacus"), std::string::npos) << outcome.err;
}

TEST_F(Writing, ResumeWithMeansOfEpochsEqualsAnUninterruptedTraining) {
  const auto begin = [&](const std::string& out, const char* epochs) {
    return fovea({"train", "features", "--config", "tutorial", "--seed", "2", "--set",
                  "data.rows=200", "--set", "training.learning_rate=1.5", "--set",
                  "training.average_epochs=2", "--set", "training.batch_size=8", "--epochs", epochs,
                  "--out", path(out), "--quiet"})
        .status;
  };
  ASSERT_EQ(begin("whole", "4"), 0);
  ASSERT_EQ(begin("parts", "2"), 0);
  ASSERT_EQ(
      fovea({"train", "features", "--out", path("parts"), "--resume", "--epochs", "4", "--quiet"})
          .status,
      0);
  EXPECT_EQ(read_file(path("whole/model.safetensors")), read_file(path("parts/model.safetensors")));
}

}  // namespace
}  // namespace fovea::writing_test
