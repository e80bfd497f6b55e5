#include "fovea/tasks/doctor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fovea/base/file.h"
#include "tests/support/small_trainings.h"
#include "tests/support/temporary_folder.h"

namespace fovea::doctor_test {
namespace {

/// What doctor says of a run whose manifest was changed by hand.
class Doctor : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::train_small(testing::kSmallTrainings[0], path());  // features
  }

  std::filesystem::path path() const { return folder / "run"; }

  std::string problem_with(const Json& files) const {
    const RunFolder run(path());
    Json manifest = read_json_file(run.manifest());
    manifest["files"] = files;
    write_json_file(run.manifest(), manifest);
    return problem();
  }
  std::string problem() const {
    for (const Check& check : examine(path()))
      if (check.name == "manifest") return check.problem;
    return "no such check";
  }

  testing::TemporaryFolder folder;
};

TEST_F(Doctor, LooksOnlyAtFilesOfTheRun) {
  EXPECT_EQ(problem(), "");
  const std::string hash = hash_of_file(path() / "assets" / "columns.json");
  Json assets = Json::object();
  for (const char* name : {"columns.json", "baselines.safetensors", "example_truths.json"})
    assets[concat("assets/", name)] = hash_of_file(path() / "assets" / name);
  EXPECT_EQ(problem_with(assets), "");
  for (const char* name : {"../../../../../../dev/zero", "/dev/zero", "assets/../../x", "..", ""})
    EXPECT_NE(problem_with({{name, hash}}).find("which no run has"), std::string::npos) << name;
  EXPECT_NE(problem_with({{"assets", hash}}).find("which no run has"), std::string::npos);
  EXPECT_NE(problem_with({{std::string(10'000, 'x'), hash}}), "");
}

TEST_F(Doctor, AReportMayStandForSeveralEpochs) {
  const auto problem_with_metrics = [&](const std::filesystem::path& run) {
    for (const Check& check : examine(run))
      if (check.name == "metrics") return check.problem;
    return std::string("no such check");
  };
  const std::filesystem::path run = folder / "rare";
  const testing::SmallTraining rare{
      "features",
      {"data.rows=400", "training.epochs=5", "training.evaluate_epochs=2", "model.name=tutorial"},
      "columns"};
  testing::train_small(rare, run);
  EXPECT_EQ(problem_with_metrics(run), "");
  const std::string lines = read_file(RunFolder(run).metrics());
  write_file(RunFolder(run).metrics(), lines.substr(0, lines.find('\n') + 1));
  EXPECT_NE(problem_with_metrics(run).find("has 1 lines, the checkpoint 3 reports"),
            std::string::npos);
  write_file(RunFolder(run).metrics(), lines + lines);
  EXPECT_NE(problem_with_metrics(run).find("metrics.jsonl:4"), std::string::npos);
}

TEST_F(Doctor, DevicesAndPipesAreNotRead) {
  std::filesystem::create_symlink("/dev/zero", path() / "assets" / "endless");
  ::mkfifo((path() / "assets" / "pipe").c_str(), 0600);
  for (const char* name : {"assets/endless", "assets/pipe"})
    EXPECT_NE(problem_with({{name, "0"}}).find("is no plain file"), std::string::npos) << name;
}

TEST_F(Doctor, AManifestOfAnotherFormIsNamed) {
  EXPECT_NE(problem_with({{"assets/columns.json", 5}}).find("manifest.json: files.assets"),
            std::string::npos);
  EXPECT_NE(problem_with(Json::array()).find("files: found array"), std::string::npos);
  for (const char* text : {"[]", "5", "{\"fovea\": 1}", "[[[["}) {
    write_file(RunFolder(path()).manifest(), text);
    EXPECT_NE(problem().find("manifest.json"), std::string::npos) << text;
    EXPECT_EQ(problem().find("json.exception"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace fovea::doctor_test
