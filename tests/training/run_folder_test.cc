#include "fovea/training/run_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/training/small_training.h"

namespace fovea::run_folder_test {
namespace {

using namespace testing;

TEST(RunFolder, IsClaimedByOneTraining) {
  TemporaryFolder folders;
  RunFolder first(folders / "run"), second(folders / "run");
  first.claim();
  expect_error(ErrorKind::InvalidArgument, "another training", [&] { second.claim(); });
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(entry.path().lexically_relative(folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(RunFolder, ARefusedTrainingLeavesNothing) {
  TemporaryFolder folders;
  make_folder(folders / "empty");
  for (const char* name : {"a/b/run", "empty"}) {
    for (const bool begins : {false, true}) {
      RunFolder folder(folders / name);
      folder.claim();
      EXPECT_TRUE(std::filesystem::exists(folders / name / ".lock"));
      if (!begins) continue;
      folder.begin();
      folder.write_asset("columns.json", {1});
      write_json_file(folder.config(), {{"format_version", 1}, {"task", "features"}});
      expect_error(ErrorKind::NotFound, "no run yet", [&] { folder.read_config(); });
    }
  }
  EXPECT_EQ(names_in(folders.path()), Names{"empty"});
}

TEST(RunFolder, IsMadeOnlyWhereNothingIsLost) {
  TemporaryFolder folders;
  const auto refused = [&](const std::string& name, const std::string& part, Claim how) {
    const Names before = names_in(folders.path());
    expect_error(ErrorKind::InvalidArgument, {part}, [&] { RunFolder(folders / name).claim(how); });
    EXPECT_EQ(names_in(folders.path()), before) << name;
  };
  make_folder(folders / "project");
  write_file(folders / "project/config.json", "{\"version\": 3}");
  refused("project", "config.json", Claim::New);
  make_folder(folders / "with_assets/assets");
  write_file(folders / "with_assets/assets/logo.png", "x");
  refused("with_assets", "assets/", Claim::New);
  refused("with_assets", "assets/", Claim::Overwrite);
  make_folder(folders / "links");
  std::filesystem::create_symlink(folders / "project/config.json", folders / "links/config.json");
  refused("links", "plain file", Claim::Overwrite);
  write_file(folders / "file", "x");
  refused("file", "is a file", Claim::New);
  make_folder(folders / "gone");
  write_json_file(folders / "gone/config.json", {{"format_version", 1}, {"task", "features"}});
  refused("gone", "last.safetensors is gone", Claim::New);

  RunFolder project(folders / "project");
  project.claim(Claim::Overwrite);
  EXPECT_EQ(read_file(folders / "project/config.json"), "{\"version\": 3}") << "not yet";
  project.begin();
  EXPECT_FALSE(std::filesystem::exists(folders / "project/config.json"));
}

/// What a kill leaves before the first checkpoint: the next training takes the folder over.
TEST(RunFolder, TakesOverWhatWasKilledAtTheBeginning) {
  TemporaryFolder folders;
  {
    RunFolder folder(folders / "run");
    folder.claim();
    folder.begin();
    folder.write_asset("old.json", {1});
    std::filesystem::copy(folders / "run", folders / "killed",
                          std::filesystem::copy_options::recursive);
  }
  write_file(folders / "killed/notes.txt", "mine");
  folders.write("killed/.model.safetensors.0123456789abcdef.fovea-tmp", "half");
  folders.write("killed/assets/.old.json.0123456789abcdef.fovea-tmp", "half");
  RunFolder folder(folders / "killed");
  folder.claim();
  folder.begin();
  EXPECT_EQ(names_in(folders / "killed"), (Names{".lock", "assets", "notes.txt"}));
  folder.write_asset("new.json", {1});
  folders.write("killed/assets/stray.txt", "x");
  EXPECT_EQ(folder.hashes_of_assets().size(), 1u) << "only what the task has written";
}

TEST(RunFolder, NoticesThatAnotherStandsInItsPlace) {
  const Rows rows = table_rows(500);
  TemporaryFolder folders;
  RunFolder folder(folders / "run");
  folder.claim();
  auto model = table_model();
  TrainerHooks hooks = hooks_for(*model, rows);
  hooks.epoch_ended = [&](const EpochReport& report) {
    if (report.epoch != 2) return;
    std::filesystem::remove_all(folders / "run");
    make_folder(folders / "run");
    write_file(folders / "run/.lock", "");
  };
  expect_error(ErrorKind::Io, "removed or replaced",
               [&] { Trainer(*model, quick(9, 32), 1, &folder).train(rows, hooks); });
  EXPECT_EQ(names_in(folders / "run"), Names{".lock"});
}

TEST(RunFolder, AssetsAreHeldAgainstTheManifest) {
  TemporaryFolder folders;
  RunFolder folder(folders / "run");
  folder.claim();
  folder.begin();
  folder.write_asset("a.json", {1, 2});
  folder.check_assets();  // no manifest, as in old runs
  const auto manifest = [&](const Json& files) {
    write_json_file(folder.manifest(), {{"files", files}});
  };
  const Json good = folder.hashes_of_assets();
  manifest(good);
  folder.check_assets();
  write_json_file(folder.asset("a.json"), {2, 1});
  expect_error(ErrorKind::BadData, "a.json: changed", [&] { folder.check_assets(); });
  manifest({{"assets/a.json", nullptr}});  // the change is meant
  folder.check_assets();
  write_json_file(folder.asset("b.json"), {1});
  expect_error(ErrorKind::BadData, "b.json: is not from this run", [&] { folder.check_assets(); });
  std::filesystem::remove(folder.asset("b.json"));
  folders.write("run/assets/.hidden.json", "");
  folders.write("run/assets/Thumbs.db", "");
  folder.check_assets();
  std::filesystem::remove(folder.asset("a.json"));
  expect_error(ErrorKind::NotFound, "a.json is missing", [&] { folder.check_assets(); });
  for (const char* name : {"../../../dev/zero", "/dev/zero", "assets/../../x", "assets/",
                           "assets/.", "assets/..", "config.json", ""}) {
    manifest({{name, "fnv1a64:0123456789abcdef"}});
    expect_error(ErrorKind::BadData, "which no run has", [&] { folder.check_assets(); });
  }
  manifest({{"assets/a.json", 7}});
  expect_error(ErrorKind::BadData, "manifest.json", [&] { folder.check_assets(); });
  manifest(7);
  expect_error(ErrorKind::BadData, "manifest.json", [&] { folder.check_assets(); });
}

TEST(RunFolder, RefusesANewerFormatByName) {
  TemporaryFolder folders;
  RunFolder folder(folders / "run");
  folder.claim();
  write_json_file(folder.config(), {{"format_version", 99}, {"task", "features"}});
  expect_error(ErrorKind::Unsupported, "run format 99", [&] { folder.read_config(); });
}

}  // namespace
}  // namespace fovea::run_folder_test
