#include "fovea/training/checkpoint.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/training/small_training.h"

namespace fovea::checkpoint_test {
namespace {

using namespace testing;

/// A run of one epoch, whose files tests damage before it goes on.
class CheckpointFiles : public ::testing::Test {
 protected:
  CheckpointFiles() {
    folder.claim();
    train(1, /*resume=*/false);
  }
  void train(int64_t epochs, bool resume) {
    auto model = table_model();
    Trainer(*model, quick(epochs, 32), 1, &folder).train(rows, {}, resume);
  }
  void go_on() { train(2, /*resume=*/true); }

  const Rows rows = table_rows(100);
  TemporaryFolder folders;
  RunFolder folder{folders / "run"};
};

TEST_F(CheckpointFiles, DamageIsNoticed) {
  const std::string good = read_file(folder.model());
  std::string bad = good;
  bad.back() ^= 1;
  write_file(folder.model(), bad);
  expect_error(ErrorKind::BadData, "checksum", [&] { read_checked_weights(folder.model()); });
  write_file(folder.model(), good.substr(0, good.size() - 5));
  expect_error(ErrorKind::BadData, "truncated", [&] { read_checked_weights(folder.model()); });
  std::string last = read_file(folder.last());
  last[last.size() - 3] ^= 4;
  write_file(folder.last(), last);
  expect_error(ErrorKind::BadData, "damaged", [&] { go_on(); });
}

/// The checkpoint with another trainer's state, its checksum made anew, as no accident would.
void change_state(const RunFolder& folder, const std::function<void(Json&)>& change) {
  const SafetensorsFile file = read_safetensors(folder.last());
  Json trainer = parse_json(file.metadata.at("trainer"), "trainer");
  change(trainer);
  ContentHash hash;
  hash.add(file.metadata.at("checksum"));
  hash.add(trainer.dump());
  auto metadata = file.metadata;
  metadata["trainer"] = trainer.dump();
  metadata["trainer_checksum"] = hash.text();
  write_safetensors(folder.last(), file.tensors, metadata);
}

TEST(Checkpoint, EveryNumberOfTheStateIsChecked) {
  const Rows rows = table_rows(20000);
  const int64_t largest = std::numeric_limits<int64_t>::max();
  for (const char* path : {"fused", "autograd"}) {
    TemporaryFolder folders;
    RunFolder folder(folders / "run");
    folder.claim();
    auto model = table_model();
    TrainerHooks hooks = hooks_for(*model, rows);
    hooks.should_stop = [] { return true; };  // in the middle of the first epoch
    ASSERT_TRUE(Trainer(*model, quick(2, 32, path), 1, &folder).train(rows, hooks).stopped);
    const std::string good = read_file(folder.last());
    const auto resume = [&] {
      auto fresh = table_model();
      Trainer(*fresh, quick(1, 32, path), 1, &folder).train(rows, hooks_for(*fresh, rows), true);
    };
    const auto refused = [&](const std::string& key, const Json& value) {
      write_file(folder.last(), good);
      change_state(folder, [&](Json& state) { state[key] = value; });
      SCOPED_TRACE(concat(path, " ", key, "=", value.dump()));
      expect_error(ErrorKind::BadData, "last.safetensors", resume);
    };
    for (const Json& value :
         {Json(-5), Json(-1), Json(1), Json(20001), Json(largest), Json(UINT64_MAX), Json(1e300),
          Json(0.5), Json("1"), Json(nullptr), Json::array({1}), Json(true)})
      refused("position", value);
    for (const Json& value : {Json(-1), Json(largest), Json(UINT64_MAX), Json(2.5), Json("x")})
      for (const char* key :
           {"epoch", "steps", "best_epoch", "schedule_cuts", "schedule_epochs_without_gain"})
        refused(key, value);
    for (const char* key : {"loss_units", "seconds"}) refused(key, -1.0);
    for (const char* key : {"loss_sum", "loss_units", "seconds"}) refused(key, nullptr);
    refused("stopped_early", 1);
    refused("best_epoch", 1);  // after no whole epoch
    refused("monitors", Json::array());
    refused("monitors", {{"loss", {{"best", 1.0}, {"has_best", true}}}});
    refused("monitors",
            {{"loss", {{"best", 1.0}, {"has_best", true}, {"epochs_without_gain", -3}}}});
    for (const char* key : {"epoch", "position", "monitors", "steps"}) {
      write_file(folder.last(), good);
      change_state(folder, [&](Json& state) { state.erase(key); });
      expect_error(ErrorKind::BadData, "last.safetensors", resume);
    }
    write_file(folder.last(), good);
    resume();
  }
}

TEST_F(CheckpointFiles, TheStateIsUnderAChecksum) {
  const std::string good = read_file(folder.last());
  std::string bad = good;
  const size_t at = bad.find("\\\"epoch\\\":1");
  ASSERT_NE(at, std::string::npos);
  bad[at + 10] = '0';
  write_file(folder.last(), bad);
  expect_error(ErrorKind::BadData, "checksum", [&] { go_on(); });
  // A checkpoint of an older version has no such checksum.
  write_file(folder.last(), good);
  SafetensorsFile file = read_safetensors(folder.last());
  file.metadata.erase("trainer_checksum");
  write_safetensors(folder.last(), file.tensors, file.metadata);
  go_on();
}

TEST(MetricsLog, CutsOffWhatACrashLeft) {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  MetricsLog log(path);
  for (const auto& [content, lines, kept] :
       std::vector<std::tuple<std::string, int64_t, std::string>>{{"1\n2\n3\n", 2, "1\n2\n"},
                                                                  {"1\n2\n{\"ep", 2, "1\n2\n"},
                                                                  {"1\n{\"ep", 2, "1\n"},
                                                                  {"{\"ep", 1, ""},
                                                                  {"1\n", 0, ""},
                                                                  {"", 3, ""}}) {
    folder.write("metrics.jsonl", content);
    log.keep(lines);
    EXPECT_EQ(read_file(path), kept);
  }
  log.append({{"epoch", 1}});
  log.append({{"epoch", 2}});
  EXPECT_EQ(read_file(path), "{\"epoch\":1}\n{\"epoch\":2}\n");
}

TEST(Checkpoint, WeightsOfAnotherModelAreRefused) {
  auto model = table_model();
  auto tensors = state_of(*model);
  tensors["output.weight"] = torch::zeros({1, 7});
  expect_error(ErrorKind::BadData, "output.weight", [&] { load_state(*model, tensors, "file"); });
  tensors = state_of(*model);
  tensors.erase("output.bias");
  expect_error(ErrorKind::BadData, "'output.bias' is missing",
               [&] { load_state(*model, tensors, "file"); });
  tensors = state_of(*model);
  tensors["extra"] = torch::zeros({1});
  expect_error(ErrorKind::BadData, "extra", [&] { load_state(*model, tensors, "file"); });
  tensors = state_of(*model);
  tensors["output.bias"] = torch::full({1}, std::numeric_limits<float>::infinity());
  expect_error(ErrorKind::BadData, "NaN or infinity", [&] { load_state(*model, tensors, "file"); });
}

}  // namespace
}  // namespace fovea::checkpoint_test
