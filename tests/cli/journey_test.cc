// What a user does, command by command, on small data.
#include <gtest/gtest.h>

#include <fstream>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::journey_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// One small run of each task, shared by the tests below.
class Journey : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    for (const char* task : {"features", "context"}) {
      trained[task] = fovea({"train", task, "--config", "tutorial", "--out", run(task), "--seed",
                             "1", "--set", "data.rows=4000", "--quiet", "--json"});
      ASSERT_EQ(trained[task].status, 0) << trained[task].err;
    }
  }
  static void TearDownTestSuite() {
    delete folder;
    trained.clear();
  }
  static std::string run(const std::string& task) { return (*folder / task).string(); }
  static std::string path(const std::string& name) { return (*folder / name).string(); }

  static TemporaryFolder* folder;
  static std::map<std::string, Outcome> trained;
};
TemporaryFolder* Journey::folder = nullptr;
std::map<std::string, Outcome> Journey::trained;

TEST_F(Journey, TrainReportsInJson) {
  const Json json = trained["features"].json();
  EXPECT_EQ(json["task"], "features");
  EXPECT_EQ(json["parameters"], 121);
  EXPECT_EQ(json["epochs"].size(), 16u);
  EXPECT_GT(json["metrics"]["accuracy"].get<double>(), 0.5);
  EXPECT_TRUE(json["metrics"].contains("attention_truth"));
}

TEST_F(Journey, TheRunFolderIsComplete) {
  for (const char* file : {"config.json", "model.safetensors", "last.safetensors", "metrics.jsonl",
                           "manifest.json", "assets/columns.json"})
    EXPECT_TRUE(std::filesystem::exists(run("features") + "/" + file)) << file;
  const Json manifest = read_json_file(run("features") + "/manifest.json");
  EXPECT_TRUE(manifest["data"]["hash"].is_string());
  EXPECT_EQ(manifest["seed"], 1);
  EXPECT_EQ(manifest["options"]["training"]["batch_size"], 128);
  EXPECT_EQ(read_json_file(run("features") + "/config.json")["data"]["rows"], 4000);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run("features")))
    EXPECT_FALSE(is_temporary(entry.path())) << entry.path();
}

TEST_F(Journey, EvaluatePrintsTheMetricsOfTraining) {
  const Outcome evaluated = fovea({"evaluate", run("features"), "--json"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  const Json json = evaluated.json();
  EXPECT_EQ(json["split"], "validation");
  const Json of_training = trained["features"].json()["metrics"];
  for (const auto& [name, value] : of_training.items())
    EXPECT_EQ(json["metrics"][name], value) << name;
  EXPECT_TRUE(
      holds(fovea({"evaluate", run("context"), "--split", "train"}).out, "positions_found"));
  EXPECT_EQ(fovea({"evaluate", run("context"), "--split", "test"}).status, 1);
}

TEST_F(Journey, PredictTakesRowsInEveryForm) {
  const std::string row = "-0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6";
  const Outcome plain = fovea({"predict", run("features"), row});
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(plain.out.substr(0, 2), "1\t");
  std::string object = "{", header, line;
  int column = 0;
  for (const std::string& cell : split(row, ','))
    object += concat(column ? "," : "", "\"x", column, "\":", cell), ++column;
  EXPECT_EQ(fovea({"predict", run("features"), object + "}"}).out, plain.out);
  write_file(path("rows.csv"), "x0,x1,x2,x3,x4,x5,x6,x7,x8,x9\n" + row + "\n" + row + "\n");
  EXPECT_EQ(fovea({"predict", run("features"), "--input", path("rows.csv")}).out,
            plain.out + plain.out);
  write_file(path("lines.txt"), row + "\n\n" + object + "}\n");
  EXPECT_EQ(fovea({"predict", run("features"), "--input", path("lines.txt")}).out,
            plain.out + plain.out);
  const Json json = fovea({"predict", run("features"), row, "--json"}).json();
  EXPECT_EQ(json[0]["class"], "1");
  EXPECT_NEAR(json[0]["scores"]["0"].get<double>() + json[0]["scores"]["1"].get<double>(), 1, 1e-6);
  const Outcome context = fovea({"predict", run("context"), "2,.1,.2,.3,.4,.5,.6,.7,.8"});
  ASSERT_EQ(context.status, 0) << context.err;
}

TEST_F(Journey, AnInputInBracketsIsTheInputThatWasGiven) {
  const Outcome empty = fovea({"predict", run("features"), "[]"});
  EXPECT_EQ(empty.status, 1);
  EXPECT_FALSE(holds(empty.err, "standard input")) << empty.err;
  EXPECT_TRUE(holds(empty.err, "input row: 1 cells; expected 10")) << empty.err;
  EXPECT_TRUE(holds(fovea({"explain", run("features"), "[]"}).err, "input row: 1 cells"));
  EXPECT_TRUE(holds(fovea({"predict", run("features"), "[1,2]"}).err, "input row: 2 cells"));
  const Outcome options =
      fovea({"explain", run("features"), "0,0,0,0,0,0,0,0,0,0", "--with", "[a,b]"});
  EXPECT_TRUE(holds(options.err, "[a,b]")) << options.err;
}

TEST_F(Journey, PredictSaysWhichLineIsWrong) {
  write_file(path("bad.txt"), "-0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6\n1,2,3\n");
  const Outcome outcome = fovea({"predict", run("features"), "--input", path("bad.txt")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.err, "bad.txt:2:")) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(holds(fovea({"predict", run("features"), "a,b,c,d,e,f,g,h,i,j"}).err, "error: "));
  EXPECT_TRUE(holds(fovea({"predict", run("context"), "9,.1,.2,.3,.4,.5,.6,.7,.8"}).err, "9"));
}

TEST_F(Journey, ExplainDrawsEverything) {
  const Outcome features =
      fovea({"explain", run("features"), "--out", path("f.svg"), "--out", path("f.json")});
  ASSERT_EQ(features.status, 0) << features.err;
  for (const char* part : {"x1", "x9", "mean over"}) EXPECT_TRUE(holds(features.out, part)) << part;
  EXPECT_TRUE(holds(read_file(path("f.svg")), "</svg>"));
  const Json json = read_json_file(path("f.json"));
  EXPECT_EQ(json["maps"].size(), 1u);
  const Outcome row =
      fovea({"explain", run("features"), "-0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6", "--json"});
  ASSERT_EQ(row.status, 0) << row.err;
  EXPECT_TRUE(holds(row.json()["prediction"]["text"].get<std::string>(), "y = 1"));
  std::string longer_than_a_name = "-0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6";
  longer_than_a_name.append(5000, '0');
  const Outcome measured =
      fovea({"explain", run("features"), longer_than_a_name, "--faithfulness"});
  EXPECT_EQ(measured.status, 0) << measured.err;
  const Outcome context = fovea({"explain", run("context"), "--json"});
  ASSERT_EQ(context.status, 0) << context.err;
  EXPECT_EQ(context.json()["maps"].size(), 2u);
#ifdef FOVEA_WITH_CAIRO
  EXPECT_EQ(fovea({"explain", run("context"), "--out", path("c.png")}).status, 0);
  EXPECT_EQ(read_file(path("c.png")).substr(1, 3), "PNG");
#endif
  EXPECT_EQ(fovea({"explain", run("features"), "--out", path("f.docx")}).status, 1);
}

TEST_F(Journey, DoctorFindsHealthAndSickness) {
  for (const char* task : {"features", "context"})
    EXPECT_EQ(fovea({"doctor", run(task)}).status, 0);
  std::filesystem::copy(run("features"), path("sick"), std::filesystem::copy_options::recursive);
  std::string weights = read_file(path("sick/model.safetensors"));
  weights.back() ^= 1;
  write_file(path("sick/model.safetensors"), weights);
  const Outcome sick = fovea({"doctor", path("sick"), "--json"});
  EXPECT_EQ(sick.status, 1);
  EXPECT_FALSE(sick.json()["healthy"].get<bool>());
}

TEST_F(Journey, PruneKeepsWhatMatters) {
  const Outcome pruned =
      fovea({"prune", run("features"), "--keep", "2", "--out", path("pruned"), "--json"});
  ASSERT_EQ(pruned.status, 0) << pruned.err;
  EXPECT_LT(pruned.json()["after"]["parameters"], pruned.json()["before"]["parameters"]);
  EXPECT_EQ(pruned.json()["kept"].size(), 2u);
  EXPECT_EQ(fovea({"predict", path("pruned"), "0.5,0.5"}).status, 0);
  EXPECT_EQ(fovea({"prune", run("features"), "--keep", "10", "--out", path("p10")}).status, 1);
  EXPECT_EQ(fovea({"prune", run("context"), "--keep", "2"}).status, 1);
}

TEST_F(Journey, CompareTrainsTheGrid) {
  const Outcome outcome =
      fovea({"compare", "features", "--set", "data.rows=500", "--vary",
             "model.name=attention,plain", "--vary", "data.columns=4,6", "--seeds", "2", "--quiet",
             "--epochs", "1", "--out", path("grid"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json json = outcome.json();
  ASSERT_EQ(json["rows"].size(), 4u);
  EXPECT_EQ(json["rows"][1]["options"]["data.columns"], "6");
  EXPECT_EQ(json["rows"][0]["metrics"]["accuracy"]["values"].size(), 2u);
  EXPECT_TRUE(holds(read_file(path("grid/compare.md")), "±"));
  EXPECT_TRUE(holds(fovea({"compare", "features", "--vary", "model.nam=a", "--seeds", "1"}).err,
                    "did you mean 'model.name'"));
}

TEST_F(Journey, DataWrittenAndReadGivesTheSameModel) {
  ASSERT_EQ(fovea({"data", "features", "--out", path("data"), "--set", "data.rows=4000"}).status,
            0);
  const Outcome outcome = fovea({"train", "features", path("data"), "--config", "tutorial", "--out",
                                 path("from-files"), "--seed", "1", "--quiet"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(read_file(path("from-files/model.safetensors")),
            read_file(run("features") + "/model.safetensors"));
}

TEST_F(Journey, ResumeRefusesOtherOptionsAndOtherData) {
  const std::string out = run("features");
  EXPECT_TRUE(holds(fovea({"train", "features", "--out", out}).err, "--resume"));
  EXPECT_TRUE(
      holds(fovea({"train", "features", "--out", out, "--resume", "--set", "model.hidden=4"}).err,
            "own options"));
  EXPECT_TRUE(holds(fovea({"train", "context", "--out", out, "--resume"}).err, "task features"));
  EXPECT_TRUE(
      holds(fovea({"train", "features", "--out", path("nothing"), "--resume"}).err, "nothing"));
  EXPECT_EQ(fovea({"train", "features", "--out", out, "--resume", "--quiet"}).status,
            0);  // already complete
}

TEST_F(Journey, ResumeRemembersHowManyEpochsWereAskedFor) {
  const std::string out = path("longer");
  ASSERT_EQ(fovea({"train", "features", "--out", out, "--set", "data.rows=500", "--epochs", "1",
                   "--quiet"})
                .status,
            0);
  ASSERT_EQ(
      fovea({"train", "features", "--out", out, "--resume", "--epochs", "3", "--quiet"}).status, 0);
  EXPECT_EQ(read_json_file(out + "/config.json")["training"]["epochs"], 3);
  EXPECT_EQ(read_json_file(out + "/config.json")["data"]["rows"], 500);
  EXPECT_EQ(fovea({"doctor", out}).status, 0);
}

TEST(Program, ListsAndHelps) {
  EXPECT_TRUE(holds(fovea({"tasks"}).out, "features"));
  EXPECT_TRUE(holds(fovea({"tasks", "features"}).out, "training.learning_rate"));
  for (const char* score : {"additive", "scaled-dot", "location-aware", "sparsemax", "local-p"})
    EXPECT_TRUE(holds(fovea({"scores"}).out, score)) << score;
  for (const char* command : {"tasks", "scores", "data", "prepare", "train", "evaluate", "predict",
                              "explain", "compare", "tune", "prune", "doctor", "export"}) {
    const Outcome help = fovea({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(holds(help.out, "Example")) << command;
  }
  EXPECT_TRUE(holds(fovea({"--version"}).out, "fovea 0."));
}

TEST(Program, TheOptionsInTheDocumentsAreTheOptionsOfTheProgram) {
  const std::string document = read_file(std::string(FOVEA_TEST_FILES) + "/../docs/options.md");
  EXPECT_TRUE(holds(document, fovea({"tasks", "--options", "--markdown"}).out))
      << "run scripts/write_options.sh";
}

TEST(Program, WrongUsageIsTwoAndErrorsAreOne) {
  EXPECT_EQ(fovea({}).status, 2);
  EXPECT_EQ(fovea({"fly"}).status, 2);
  EXPECT_EQ(fovea({"train"}).status, 2);
  const Outcome task = fovea({"train", "feature"});
  EXPECT_EQ(task.status, 1);
  EXPECT_TRUE(holds(task.err, "did you mean 'features'")) << task.err;
  const Outcome key =
      fovea({"train", "features", "--set", "training.learningrate=1", "--out", "/nonexistent/x"});
  EXPECT_EQ(key.status, 1);
  EXPECT_TRUE(holds(key.err, "did you mean 'training.learning_rate'")) << key.err;
}

}  // namespace
}  // namespace fovea::journey_test
