// What a user mistypes, and files in the place of others: one line that says what was meant.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::mistakes_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

using Words = std::vector<std::string>;

/// One line on standard error with these parts.
void expect_line(const Outcome& outcome, int status, const Words& parts) {
  EXPECT_EQ(outcome.status, status) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const std::string& part : parts)
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " not in: " << outcome.err;
}

TEST(Mistakes, Commands) {
  expect_line(fovea({}), 2, {"name a command"});
  expect_line(fovea({"trian", "features"}), 2, {"'trian'", "did you mean 'train'?", "doctor"});
  expect_line(fovea({"fit", "features"}), 2, {"did you mean 'train'?"});
  expect_line(fovea({"tokenize", "x"}), 2, {"did you mean 'tokenise'?"});
  expect_line(fovea({"features"}), 2, {"fovea train features"});
  expect_line(fovea({"--json", "evaluate", "x"}), 2, {"behind the command", "evaluate", "--json"});
  expect_line(fovea({"--out", "x", "train", "features"}), 2, {"fovea train", "--out x"});
  EXPECT_EQ(fovea({"help", "train"}).out, fovea({"train", "--help"}).out);
  EXPECT_EQ(fovea({"help"}).status, 0);
}

/// No other program's word stands in the way of one that is nearly there.
TEST(Mistakes, EveryCommandIsTheNearestToItself) {
#define FOVEA_NAME(name) #name,
  for (const std::string name : {FOVEA_COMMANDS(FOVEA_NAME)})
    expect_line(fovea({name.substr(0, name.size() - 1), "x"}), 2, {"did you mean '" + name + "'?"});
#undef FOVEA_NAME
}

TEST(Mistakes, Flags) {
  const auto train = [](const Words& more) {
    Words arguments{"train", "features"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  };
  expect_line(train({"--traget", "y"}), 2, {"--traget", "did you mean --target?"});
  expect_line(train({"--ep", "3"}), 2, {"did you mean --epochs?"});
  expect_line(train({"--val_fraction=.2"}), 2, {"did you mean --val-fraction?"});
  expect_line(train({"-o", "x"}), 2, {"did you mean --out?"});
  expect_line(train({"--output=x"}), 2, {"did you mean --out?"});
  expect_line(train({"--gpu"}), 2, {"did you mean --device cuda?"});
  expect_line(train({"--lr", ".1"}), 2, {"--set training.learning_rate=.1"});
  expect_line(train({"--learning-rate=.1"}), 2, {"--set training.learning_rate=.1"});
  expect_line(train({"--hidden", "64,64"}), 2, {"--set model.hidden=64,64"});
  expect_line(train({"--batch-size", "32"}), 2, {"--set training.batch_size=32"});
  expect_line(train({"--dropout", ".1"}), 2, {"--set model.dropout=.1"});
  expect_line(train({"--model", "plain"}), 2, {"--set model.name=plain"});
  expect_line(train({"--zzzzzz"}), 2, {"--zzzzzz", "fovea train --help"});
  expect_line(train({"--epochs", "ten"}), 2, {"--epochs", "ten", "fovea train --help"});
  expect_line(fovea({"train"}), 2, {"task is required", "fovea train --help"});
  expect_line(fovea({"evaluate", "x", "--split", "tset"}), 2, {"did you mean 'test'?"});
  expect_line(train({"a", "b", "c"}), 2, {"fovea train --help"});
  expect_line(train({"--device", "gpu"}), 1, {"did you mean 'cuda'?"});
  expect_line(train({"--class-weights", "balanced"}), 2, {"model.class_weights=balanced"});
  expect_line(train({"--cv", "5"}), 2, {"did you mean --folds?"});
  expect_line(train({"--cross-validation=5"}), 2, {"did you mean --folds?"});
  expect_line(train({"--data", "a.csv"}), 2, {"data", "behind the task", "fovea train TASK a.csv"});
  for (const char* flag : {"--data", "--test", "--file"})
    expect_line(fovea({"predict", "r", flag, "a.csv"}), 2, {"behind the run", "fovea predict RUN"});
  for (const char* flag : {"--data", "--test", "--file", "--input"})
    expect_line(fovea({"evaluate", "r", flag, "a.csv"}), 2, {"behind the run", "RUN a.csv"});
  expect_line(train({"--target", "--out", "X"}), 2, {"--target needs a value", "--target="});
  expect_line(train({"--epochs", "--out", "X"}), 2, {"--epochs needs a value"});
  expect_line(fovea({"explain", "x", "--adversary", "5"}), 1,
              {"--adversary", "add --faithfulness"});
}

TEST(Mistakes, NamesOfTasksOptionsAndColumns) {
  TemporaryFolder folder;
  const std::string table = folder.write("a.csv", "income,age\n1,2\n0,3\n1,4\n0,5\n");
  expect_line(fovea({"train", "featrues"}), 1, {"did you mean 'features'?"});
  expect_line(fovea({"train", "a.csv"}), 1, {"the task comes before the data: features a.csv"});
  const std::string out = (folder / "run").string();  // refused before a model is chosen
  for (const char* rule : {"f2", "cost=1"})
    expect_line(fovea({"train", "features", "--threshold", rule, "--out", out}), 1,
                {rule, "cost=1:5"});
  EXPECT_FALSE(std::filesystem::exists(out));
  expect_line(fovea({"train", "features", "--set", "model.nam=x"}), 1, {"'model.name'"});
  expect_line(fovea({"train", "features", "--set", "model.name=linaer"}), 1, {"'linear'"});
  expect_line(fovea({"train", "features", table, "--target", "incme"}), 1, {"'income'"});
  expect_line(fovea({"train", "documents", table, "--columns", "txt=age"}), 1, {"'text'"});
}

TEST(Mistakes, ConfigFiles) {
  TemporaryFolder folder;
  const auto train = [&](const std::string& config) {
    return fovea({"train", "features", "--config", config, "--out", (folder / "run").string(),
                  "--set", "data.rows=50", "--quiet"});
  };
  expect_line(train(folder.write("a.yaml", "training:\n  epochs: 2\n")), 1,
              {"a.yaml", "YAML", "JSON", "yaml.safe_load"});
  expect_line(train(folder.write("a.toml", "[training]\nepochs = 2\n")), 1, {"a.toml"});
  expect_line(train(folder.write("empty.json", " \n")), 1, {"empty.json", "is empty"});
  expect_line(train(folder.path().string()), 1, {"is a folder"});
  expect_line(train(folder.write("two.json", "{\"training\": {\n\"epochs\": 2,\n\"epochs\": 3}}")),
              1, {"two.json:3", "twice"});
  const std::string config = folder.write(
      "a.json", "{ // ours\n\"training\": {\"epochs\": 1, /* , */ },\n\"seed\": 3, // ,]\n}\n");
  EXPECT_EQ(train(config).status, 0) << train(config).err;
}

TEST(Mistakes, RunsAndDataInEachOthersPlace) {
  TemporaryFolder folder;
  const std::string run = (folder / "run").string(), data = (folder / "data").string();
  ASSERT_EQ(fovea({"train", "features", "--set", "data.rows=100", "--epochs", "1", "--out", run,
                   "--quiet"})
                .status,
            0);
  ASSERT_EQ(fovea({"data", "features", "--set", "data.rows=100", "--out", data}).status, 0);
  expect_line(fovea({"train", "features", run, "--out", data + "2"}), 1, {"is a run, not data"});
  expect_line(fovea({"evaluate", run, run}), 1, {"is a run, not data"});
  expect_line(fovea({"evaluate", data}), 1, {"not a run", "fovea train"});
  expect_line(fovea({"evaluate", data + "/val.csv"}), 1, {"is a file, not a run"});
  expect_line(fovea({"predict", run, "--input", data}), 1, {"is a folder"});
  for (const char* left : {"data2", "none"})
    EXPECT_FALSE(std::filesystem::exists(folder / left)) << left;
}

TEST(Mistakes, FilesThatAreNoData) {
  TemporaryFolder folder;
  const std::string parquet = folder.write("a.parquet", std::string("PAR1\x15\0\x15\0", 8));
  const std::string zip = folder.write("a.csv", std::string("PK\x03\x04\0xl/workbook.xml", 20));
  for (const char* task : {"features", "documents", "tag", "translate", "forecast", "ratings"}) {
    const std::string out = (folder / "run").string();
    expect_line(fovea({"train", task, parquet, "--out", out}), 1, {"Parquet", "to_csv"});
    expect_line(fovea({"train", task, zip, "--out", out}), 1, {"Excel", "CSV"});
    expect_line(fovea({"train", task, folder.write("e.csv", ""), "--out", out}), 1, {"e.csv"});
    EXPECT_FALSE(std::filesystem::exists(out));
  }
  const std::string out = (folder / "x.safetensors").string();
  expect_line(fovea({"prepare", "translate", parquet, "--out", out}), 1, {"Parquet"});
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Mistakes, FilesOfAnotherKind) {
  TemporaryFolder folder;
  const std::string out = (folder / "run").string();
  const auto train = [&](const Words& more) {
    Words arguments{"train"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--out", out});
    return fovea(arguments);
  };
  const std::string parquet = folder.write("a.parquet", std::string("PAR1\x15\0\x15\0", 8));
  const std::string zip = folder.write("b.xlsx", std::string("PK\x03\x04\0xl/workbook.xml", 20));
  for (const char* task : {"images", "graph"}) {
    expect_line(train({task, parquet}), 1, {"Parquet", "to_csv"});
    expect_line(train({task, zip}), 1, {"Excel", "to_csv"});
  }
  const std::string csv = folder.write("a.csv", "question,text,answer\na,b,c\n");
  expect_line(train({"questions", csv}), 1, {"a.csv", "SQuAD", "JSON lines"});
  expect_line(train({"questions", zip}), 1, {"Excel", "JSON lines", "to_json"});
  std::filesystem::create_directories(folder / "pics/cat");
  std::filesystem::create_directories(folder / "pics/dog");
  folder.write("pics/cat/1.png", "x");
  folder.write("pics/dog/2.jpg", "x");
  folder.write("pics/dog/notes.txt", "x");
  expect_line(train({"documents", (folder / "pics").string()}), 1,
              {"pictures", "fovea train images"});
  std::string ratings = "user,item,rating\n";
  for (int i = 0; i < 9; ++i) ratings += concat("u", i % 3, ",i", i / 3, ",", 1 + i % 5, "\n");
  expect_line(train({"ratings", folder.write("r.csv", ratings)}), 1,
              {"'text'", "--set model.name=mf"});
}

TEST(Mistakes, EvaluatingAFileWithoutAHeader) {
  TemporaryFolder folder;
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += concat(i, ",", 100 + 7 * i % 10, i % 2 ? ",yes\n" : ",no\n");
  const std::string run = (folder / "run").string();
  ASSERT_EQ(fovea({"train", "features", folder.write("a.csv", "a,b,y\n" + rows), "--target", "y",
                   "--epochs", "1", "--set", "model.name=linear", "--quiet", "--out", run})
                .status,
            0);
  const Outcome bare = fovea({"evaluate", run, folder.write("bare.csv", rows)});
  EXPECT_EQ(bare.status, 1);
  EXPECT_NE(bare.err.find("The first line must be a header"), std::string::npos) << bare.err;
}

TEST(Mistakes, DoctorOnDamagedRuns) {
  TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  ASSERT_EQ(fovea({"train", "features", "--set", "data.rows=100", "--epochs", "1", "--out", run,
                   "--quiet"})
                .status,
            0);
  EXPECT_EQ(fovea({"doctor", run}).status, 0);
  write_file(folder / "run/assets/examples.json", "[1, ");
  const Outcome examples = fovea({"doctor", run});
  EXPECT_EQ(examples.status, 1);
  EXPECT_NE(examples.out.find("examples.json"), std::string::npos) << examples.out;
  std::filesystem::remove(folder / "run/manifest.json");
  ASSERT_EQ(::mkfifo((folder / "run/manifest.json").c_str(), 0600), 0);
  const Outcome pipe = fovea({"doctor", run});  // which nobody ever writes to
  EXPECT_EQ(pipe.status, 1);
  EXPECT_NE(pipe.out.find("is no plain file"), std::string::npos) << pipe.out;
}

TEST(Mistakes, Completion) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = fovea({"completion", shell});
    EXPECT_EQ(outcome.status, 0);
    for (const char* word : {"evaluate", "--epochs", "features"})
      EXPECT_NE(outcome.out.find(word), std::string::npos) << shell << ": " << word;
  }
  expect_line(fovea({"completion", "bsh"}), 2, {"did you mean 'bash'?"});
}

}  // namespace
}  // namespace fovea::mistakes_test
