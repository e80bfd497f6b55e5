// Attention kept epoch by epoch, and what people who watch a training read of its folder.
#include "fovea/tasks/watch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/file.h"
#include "fovea/explain/record/json.h"
#include "fovea/tasks/watch_history.h"
#include "fovea/training/step_log.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"

namespace fovea::watch_test {
namespace {

using namespace testing;

const Assignments kTable{"model.name=attention",       "data.rows=600",       "training.epochs=3",
                         "training.evaluate_epochs=1", "training.patience=0", "model.dropout=0.1"};

Training train_watched(const std::filesystem::path& run, int64_t count, int64_t epochs = 3,
                       bool resume = false) {
  RunFolder folder(run);
  auto setup = resume ? fovea::setup_of_run(folder) : setup_of("features", kTable);
  setup.set("training.epochs", std::to_string(epochs));
  TrainRequest request;
  request.folder = &folder;
  request.watch = count;
  request.resume = resume;
  return train(setup, request);
}

struct Look {
  int64_t epoch, row;
  auto operator<=>(const Look&) const = default;
};

std::vector<Look> looks_in(const RunFolder& folder) {
  std::vector<Look> looks;
  for (const std::string& line : whole_lines(folder.attention())) {
    const Json json = parse_json(line, "attention.jsonl");
    looks.push_back({json["epoch"].get<int64_t>(), json["row"].get<int64_t>()});
  }
  return looks;
}

TEST(Watch, KeepsTheSameRowsForEachEpoch) {
  TemporaryFolder folder;
  train_watched(folder / "run", 2);
  const RunFolder run(folder / "run");
  EXPECT_EQ(looks_in(run),
            (std::vector<Look>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 0}, {3, 1}}));
  const Explanation before = explanation_from_json(parse_json(watched_attention(run, 0), "first"),
                                                   "first"),
                    after = explanation_from_json(parse_json(watched_attention(run, 6), "last"),
                                                  "last");
  ASSERT_FALSE(before.maps.empty());
  EXPECT_EQ(before.maps[0].key_labels, after.maps[0].key_labels);
  EXPECT_EQ(before.input, after.input) << "the row as a user would give it";
  EXPECT_NE(before.maps[0].weights, after.maps[0].weights) << "something was learned";
}

TEST(Watch, ChangesNoBit) {
  TemporaryFolder folder;
  train_watched(folder / "with", 4);
  train_watched(folder / "without", 0);
  const RunFolder with(folder / "with"), without(folder / "without");
  EXPECT_EQ(read_file(with.model()), read_file(without.model()));
  EXPECT_EQ(read_file(with.config()), read_file(without.config()));
  EXPECT_FALSE(std::filesystem::exists(without.attention())) << "nothing is kept unasked";
  EXPECT_TRUE(std::filesystem::exists(with.attention()));
}

TEST(Watch, AResumedTrainingGoesOnWithoutDoubles) {
  TemporaryFolder folder;
  train_watched(folder / "run", 1, 2);
  const RunFolder run(folder / "run");
  append_unsynced(run.attention(), "{\"epoch\": 9, \"step\": 99999, \"row\": 0}\n{\"epo");
  train_watched(folder / "run", 0, 4, /*resume=*/true);
  EXPECT_EQ(looks_in(run), (std::vector<Look>{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}));
}

TEST(Watch, KeepsFewOfManyLooks) {
  TemporaryFolder folder;
  train_watched(folder / "run", 1, 120);
  const std::vector<Look> looks = looks_in(RunFolder(folder / "run"));
  EXPECT_LE(looks.size(), 48u);
  EXPECT_GE(looks.size(), 20u);
  EXPECT_EQ(looks.front(), (Look{0, 0})) << "how it was before";
  EXPECT_GE(looks.back().epoch, 112);
  for (size_t i = 2; i < looks.size(); ++i)
    EXPECT_EQ(looks[i].epoch - looks[i - 1].epoch, looks[1].epoch - looks[0].epoch);
}

TEST(Watch, SaysWhereThereIsNothingToKeep) {
  TemporaryFolder folder;
  RunFolder run(folder / "run");
  auto setup = setup_of("dates", {"model.attention=none", "data.rows=100", "training.epochs=1"});
  std::vector<std::string> notes;
  TrainRequest request;
  request.folder = &run;
  request.watch = 1;
  request.hooks.note = [&](const std::string& sentence) { notes.push_back(sentence); };
  EXPECT_FALSE(train(setup, request).result.stopped);
  ASSERT_EQ(notes.size(), 1u) << "once, not in each epoch";
  EXPECT_NE(notes[0].find("no attention is kept"), std::string::npos) << notes[0];
  EXPECT_FALSE(std::filesystem::exists(run.attention()));
}

TEST(WatchHistory, HoldsWhatTheTrainingWrote) {
  TemporaryFolder folder;
  const Training training = train_watched(folder / "run", 1);
  const Json history = training_history(RunFolder(folder / "run"), "mine");
  EXPECT_EQ(history["name"], "mine");
  EXPECT_EQ(history["task"], "features");
  EXPECT_EQ(history["state"], "finished");
  EXPECT_EQ(history["summary"], training.result.summary());
  EXPECT_EQ(history["epochs_planned"], 3);
  EXPECT_EQ(history["options"]["data.rows"], 600);
  ASSERT_EQ(history["epochs"].size(), 3u);
  EXPECT_EQ(history["epochs"][2]["step"], training.result.steps);
  EXPECT_EQ(history["epochs"][0]["validation"].size(), training.validation.size());
  const Json lower = history["lower_is_better"];
  EXPECT_TRUE(std::ranges::count(lower, Json("loss")) == 1) << lower;
  EXPECT_TRUE(std::ranges::count(lower, Json("accuracy")) == 0) << lower;
  EXPECT_EQ(history["steps"]["step"].back(), training.result.steps);
  EXPECT_EQ(history["steps"]["step"].size(), history["steps"]["loss"].size());
  EXPECT_EQ(history["attention"].size(), 4u);
}

TEST(WatchHistory, SaysHowTheTrainingStands) {
  TemporaryFolder folder;
  train_watched(folder / "run", 0);
  const RunFolder run(folder / "run");
  const auto state = [&] { return training_history(run, "run")["state"]; };
  Json manifest = read_json_file(run.manifest());
  manifest["training"] = {{"finished", false}, {"reason", "interrupted"}, {"summary", "…"}};
  write_json_file(run.manifest(), manifest);
  EXPECT_EQ(state(), "stopped");
  manifest["training"] = {{"finished", false}};
  write_json_file(run.manifest(), manifest);
  EXPECT_EQ(state(), "broken off");
  const std::string tag = history_tag(run);
  EXPECT_EQ(history_tag(run), tag);
  RunFolder(folder / "run").claim(Claim::Resume);
  RunFolder held(folder / "run");
  held.claim(Claim::Resume);
  EXPECT_EQ(state(), "running");
  EXPECT_NE(history_tag(run), tag) << "that it runs is news";
}

TEST(WatchHistory, OfADamagedRunNamesThePlace) {
  TemporaryFolder folder;
  train_watched(folder / "run", 1);
  const RunFolder run(folder / "run");
  const auto complains = [&](const std::filesystem::path& file, const std::string& content,
                             const std::string& part) {
    const std::string before = read_file(file);
    write_file(file, content);
    expect_error(ErrorKind::BadData, {part}, [&] { training_history(run, "run"); });
    write_file(file, before);
  };
  complains(run.metrics(), "nonsense\n", "metrics.jsonl:1");
  complains(run.metrics(), "{\"epoch\": 1, \"steps\": -4}\n", "steps");
  complains(run.steps(), "[1]\n", "steps.jsonl:1");
  complains(run.steps(), "{\"step\": \"x\"}\n", "step");
  complains(run.attention(), "{\"epoch\": 1}\n", "attention.jsonl:1");
  complains(run.config(), "{}", "format_version");
  write_file(run.steps(), read_file(run.steps()) + "{\"step\": 12, \"lo");
  EXPECT_NO_THROW(training_history(run, "run")) << "half a line is no damage";
  expect_error(ErrorKind::NotFound, "lines", [&] { watched_attention(run, 99); });
  std::filesystem::remove(run.steps());
  EXPECT_TRUE(training_history(run, "run")["steps"]["step"].empty()) << "of an older program";
  expect_error(ErrorKind::NotFound, "no such run",
               [&] { training_history(RunFolder(folder / "none"), "none"); });
}

}  // namespace
}  // namespace fovea::watch_test
