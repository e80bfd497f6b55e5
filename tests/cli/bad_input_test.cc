// Every bad input of the documentation: one clear error or a documented behaviour, never a crash,
// never damage.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "fovea/base/file.h"
#include "fovea/training/run_folder.h"
#include "tests/cli/program_test.h"

namespace fovea::bad_input_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class BadInput : public testing::ProgramTest {
 protected:
  Outcome train(const std::string& data, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"train",     "features", data, "--out",
                                       path("run"), "--epochs", "1",  "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
  /// One line, "error: …", with these parts; no run is left that could be taken for one.
  void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err.rfind("error: ", 0), 0u) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " not in: " << outcome.err;
    EXPECT_FALSE(RunFolder(path("run")).holds_run());
  }
  std::string table(int rows = 60) {
    std::string text = "a,b,y\n";
    for (int i = 0; i < rows; ++i) text += concat(i % 7, ",", i % 5 * 0.5, ",", i % 2, "\n");
    return text;
  }
};

TEST_F(BadInput, NoFile) {
  expect_refused(train(path("none.csv")), {"none.csv"});
}
TEST_F(BadInput, EmptyFile) {
  expect_refused(train(file("empty.csv", "")), {"empty.csv"});
}
TEST_F(BadInput, HeaderOnly) {
  expect_refused(train(file("header.csv", "a,b,y\n")), {"header.csv"});
}
TEST_F(BadInput, RaggedRow) {
  expect_refused(train(file("ragged.csv", "a,b,y\n1,2,0\n1,2\n")), {"ragged.csv:3", "2", "3"});
}
TEST_F(BadInput, WrongEncoding) {
  expect_refused(train(file("mixed.csv", "a,b,y\n1,caf\xC3\xA9,0\n2,caf\xe9,1\n")),
                 {"mixed.csv:3", "UTF-8"});
}
TEST_F(BadInput, BinaryFile) {
  expect_refused(train(file("binary.csv", std::string("\x7f\x45\x4c\x46\0\0\1", 7))),
                 {"binary.csv"});
}
TEST_F(BadInput, TruncatedGzip) {
  expect_refused(train(file("cut.csv.gz", "\x1f\x8b\x08")), {"cut.csv.gz"});
}

TEST_F(BadInput, MillionColumns) {
  std::string header = "c0";
  for (int i = 1; i < 1'000'000; ++i) header += ",c" + std::to_string(i);
  expect_refused(train(file("wide.csv", header + "\n")), {"wide.csv", "columns"});
}

TEST_F(BadInput, UnknownTarget) {
  expect_refused(train(file("t.csv", table()), {"--target", "incom"}), {"incom", "a"});
}
TEST_F(BadInput, NoTargetNamed) {
  expect_refused(train(file("t.csv", "a,b\n1,2\n3,4\n")), {"target"});
}
TEST_F(BadInput, TargetAllMissing) {
  expect_refused(train(file("t.csv", "a,y\n1,\n2,?\n")), {"y"});
}
TEST_F(BadInput, ConstantTarget) {
  expect_refused(train(file("t.csv", "a,y\n1,1\n2,1\n")), {"y"});
}
TEST_F(BadInput, AFolderWithoutData) {
  expect_refused(train(path("")), {"train"});
}

TEST_F(BadInput, ConstantAndMissingColumnsAreNotedAndHarmless) {
  std::string text = "a,constant,missing,y\n";
  for (int i = 0; i < 60; ++i) text += concat(i % 7, ",3,,", i % 2, "\n");
  const Outcome outcome = train(file("t.csv", text));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string notes = read_json_file(path("run/manifest.json"))["data"]["notes"].dump();
  EXPECT_NE(notes.find("constant"), std::string::npos) << notes;
  EXPECT_NE(notes.find("missing"), std::string::npos) << notes;
}

TEST_F(BadInput, TextWhereNumbersAreDue) {
  ASSERT_EQ(train(file("t.csv", table())).status, 0);
  const Outcome outcome =
      fovea({"evaluate", path("run"), file("later.csv", "a,b,y\n1,2,0\n1,much,1\n")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("later.csv:3"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("much"), std::string::npos) << outcome.err;
  const Outcome context =
      fovea({"train", "context", file("c.csv", "context,x0,x1,y\n0,1,2,1\n0,1,two,1\n"), "--out",
             path("c")});
  EXPECT_EQ(context.status, 1);
}

TEST_F(BadInput, UnseenCategoriesAreTakenAsOther) {
  std::string text = "colour,y\n";
  for (int i = 0; i < 60; ++i) text += concat(i % 2 ? "red" : "blue", ",", i % 2, "\n");
  ASSERT_EQ(train(file("t.csv", text)).status, 0);
  EXPECT_EQ(fovea({"predict", path("run"), "green"}).status, 0);
}

TEST_F(BadInput, ARunWithAMissingFile) {
  ASSERT_EQ(train(file("t.csv", table())).status, 0);
  for (const char* name : {"config.json", "model.safetensors", "assets/columns.json"}) {
    std::filesystem::remove_all(path("copy"));
    std::filesystem::copy(path("run"), path("copy"), std::filesystem::copy_options::recursive);
    std::filesystem::remove(path("copy/" + std::string(name)));
    const Outcome outcome = fovea({"predict", path("copy"), "1,2"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find(std::filesystem::path(name).filename().string()), std::string::npos)
        << outcome.err;
  }
}

TEST_F(BadInput, ARunWithADamagedFile) {
  ASSERT_EQ(train(file("t.csv", table())).status, 0);
  for (const char* name : {"config.json", "model.safetensors", "assets/columns.json"}) {
    const std::string good = read_file(path("run/" + std::string(name)));
    for (size_t size : {size_t{0}, good.size() / 2, good.size() - 3}) {
      std::filesystem::remove_all(path("copy"));
      std::filesystem::copy(path("run"), path("copy"), std::filesystem::copy_options::recursive);
      write_file(path("copy/" + std::string(name)), good.substr(0, size));
      const Outcome outcome = fovea({"predict", path("copy"), "1,2"});
      EXPECT_EQ(outcome.status, 1) << name << " cut to " << size;
      EXPECT_EQ(outcome.err.rfind("error: ", 0), 0u) << outcome.err;
      EXPECT_EQ(fovea({"doctor", path("copy")}).status, 1) << name << " cut to " << size;
    }
  }
}

/// Flips bytes all over the assets, where nobody holds them against their hash: an error or an
/// answer, never anything else.
TEST_F(BadInput, AssetsWithFlippedBytes) {
  ASSERT_EQ(train(file("t.csv", table())).status, 0);
  Json manifest = read_json_file(path("run/manifest.json"));
  manifest["files"]["assets/columns.json"] = nullptr;
  write_json_file(path("run/manifest.json"), manifest);
  const std::string good = read_file(path("run/assets/columns.json"));
  for (size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x11);
    write_file(path("run/assets/columns.json"), bad);
    const Outcome outcome = fovea({"predict", path("run"), "1,2"});
    EXPECT_TRUE(outcome.status == 0 || outcome.err.rfind("error: ", 0) == 0)
        << at << ": " << outcome.err;
  }
}

TEST_F(BadInput, AFullDiskHarmsNothing) {
  ASSERT_EQ(train(file("t.csv", table()), {"--set", "model.hidden=64"}).status, 0);
  const std::string weights = read_file(path("run/model.safetensors")),
                    last = read_file(path("run/last.safetensors"));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1024, before.rlim_max};  // no file may grow beyond 1 KiB
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Outcome resumed =
      fovea({"train", "features", "--out", path("run"), "--resume", "--epochs", "3", "--quiet"});
  const Outcome fresh = fovea({"train", "features", path("t.csv"), "--out", path("new"), "--set",
                               "model.name=plain", "--epochs", "1", "--quiet"});
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(resumed.status, 1);
  EXPECT_NE(resumed.err.find("unharmed"), std::string::npos) << resumed.err;
  EXPECT_EQ(fresh.status, 1);
  EXPECT_EQ(read_file(path("run/model.safetensors")), weights);
  EXPECT_EQ(read_file(path("run/last.safetensors")), last);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    EXPECT_FALSE(is_temporary(entry.path())) << entry.path();
  EXPECT_EQ(
      fovea({"train", "features", "--out", path("run"), "--resume", "--epochs", "3", "--quiet"})
          .status,
      0);
}

TEST_F(BadInput, TwoTrainingsIntoOneFolder) {
  RunFolder other(path("run"));
  other.claim();
  const Outcome outcome = train(file("t.csv", table()));
  expect_refused(outcome, {"another training"});
}

TEST_F(BadInput, ABadConfigFile) {
  const std::string data = file("t.csv", table());
  expect_refused(train(data, {"--config", file("c.json", "{\"training\": {\"epoch\": 3}}")}),
                 {"c.json", "training.epochs"});
  expect_refused(
      train(data, {"--config", file("c.json", "{\"training\": {\"epochs\": \"many\"}}")}),
      {"c.json", "many"});
  expect_refused(train(data, {"--config", file("c.json", "{\"training\": ")}), {"c.json:1"});
  expect_refused(train(data, {"--set", "training.epochs"}), {"key=value"});
  EXPECT_EQ(
      train(data, {"--config", file("c.json", "// a comment\n{\"training\": {\"batch_size\": 8}}")})
          .status,
      0);
  EXPECT_EQ(read_json_file(path("run/config.json"))["training"]["batch_size"], 8);
}

}  // namespace
}  // namespace fovea::bad_input_test
