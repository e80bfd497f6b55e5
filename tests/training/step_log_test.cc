#include "fovea/training/step_log.h"

#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/support/temporary_folder.h"
#include "tests/training/small_training.h"

namespace fovea::step_log_test {
namespace {

using namespace testing;

StepReport report_at(int64_t step) {
  StepReport report;
  report.step = step;
  return report;
}

std::vector<int64_t> steps_in(const std::filesystem::path& path) {
  std::vector<int64_t> steps;
  for (const std::string& line : whole_lines(path))
    steps.push_back(parse_json(line, "line")["step"].get<int64_t>());
  return steps;
}

TEST(StepLog, WritesMeansSinceTheLastLine) {
  TemporaryFolder folder;
  StepLog log(folder / "steps.jsonl", 0);
  log.add({.rows = 10, .units = 40, .loss = 20, .seconds = 0.06});
  EXPECT_FALSE(log.is_due());
  log.add({.rows = 10, .units = 40, .loss = 60, .seconds = 0.06});
  EXPECT_TRUE(log.is_due());
  StepReport report = report_at(2);
  log.write(report);
  EXPECT_DOUBLE_EQ(report.loss, 1);
  EXPECT_NEAR(report.rows_per_second, 20 / .12, 1e-9);
  EXPECT_NEAR(report.units_per_second, 80 / .12, 1e-9);
  EXPECT_FALSE(log.has_news());
  log.add({.rows = 5, .units = 5, .loss = 10, .seconds = 1});
  report = report_at(3);
  log.write(report);
  EXPECT_DOUBLE_EQ(report.loss, 2);
  EXPECT_EQ(report.units_per_second, 0) << "each row is one";
  EXPECT_NEAR(report.seconds, 1.12, 1e-9);
  EXPECT_EQ(steps_in(folder / "steps.jsonl"), (std::vector<int64_t>{2, 3}));
}

TEST(StepLog, StaysSmall) {
  TemporaryFolder folder;
  const auto path = folder / "steps.jsonl";
  StepLog log(path, 0);
  int64_t lines = 0;
  for (int64_t step = 1; step <= 9000; ++step) {
    log.add({.rows = 1, .units = 1, .loss = 1, .seconds = 0.11});
    if (!log.is_due()) continue;
    StepReport report = report_at(step);
    log.write(report);
    ++lines;
  }
  const std::vector<int64_t> steps = steps_in(path);
  EXPECT_LE(steps.size(), 2000u);
  EXPECT_GE(steps.size(), 900u);
  EXPECT_EQ(steps.front(), 1) << "the first stays";
  EXPECT_GT(steps.back(), 8900) << "so does the newest";
  EXPECT_LT(lines, 4500) << "they are written less often";
  EXPECT_TRUE(std::ranges::is_sorted(steps));
}

TEST(StepLog, GoesOnWithoutDoubles) {
  TemporaryFolder folder;
  const auto path = folder / "steps.jsonl";
  write_file(path,
             "{\"step\": 10, \"seconds\": 1.5}\nnonsense\n{\"step\": 20, \"seconds\": 3}\n"
             "{\"step\": 30, \"seconds\": 4}\n{\"step\": 40, \"sec");  // killed here
  StepLog log(path, 25);
  EXPECT_EQ(steps_in(path), (std::vector<int64_t>{10, 20}));
  log.add({.rows = 1, .units = 1, .loss = 1, .seconds = 0.5});
  StepReport report = report_at(30);
  log.write(report);
  EXPECT_DOUBLE_EQ(report.seconds, 3.5) << "time goes on, too";
  EXPECT_EQ(steps_in(path), (std::vector<int64_t>{10, 20, 30}));
}

TEST(StepLog, HalfALineIsNotRead) {
  TemporaryFolder folder;
  write_file(folder / "lines", "one\ntwo\nthr");
  EXPECT_EQ(whole_lines(folder / "lines"), (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(whole_lines(folder / "none").empty());
}

/// A run of `epochs` of them, and of so many more when it is resumed.
void train_into(const RunFolder& folder, int64_t epochs, bool resume,
                std::vector<StepReport>* told = nullptr) {
  const Rows rows = table_rows(20000);
  const auto model = table_model();
  TrainerHooks hooks = hooks_for(*model, rows);
  if (told) hooks.step_ended = [=](const StepReport& report) { told->push_back(report); };
  Trainer(*model, quick(epochs, 16, "autograd"), 3, &folder).train(rows, hooks, resume);
}

TEST(StepLog, OfATrainingGrowsUntilItsEnd) {
  TemporaryFolder folders;
  const RunFolder folder(folders.path());
  std::vector<StepReport> told;
  train_into(folder, 1, false, &told);
  const std::vector<int64_t> first = steps_in(folder.steps());
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first.back(), 1250) << "the end of the training has a line";
  EXPECT_EQ(told.size(), first.size());
  EXPECT_EQ(told.back().left, 0);
  EXPECT_DOUBLE_EQ(told.back().epoch, 1);
  EXPECT_DOUBLE_EQ(told.back().learning_rate, 0.01);
  train_into(folder, 2, true);
  std::vector<int64_t> all = steps_in(folder.steps());
  EXPECT_EQ(all.back(), 2500);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
  const auto size = all.size();
  all.erase(std::unique(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.size(), size) << "no step stands there twice";
}

TEST(StepLog, IsNotKeptInMemoryAlone) {
  const Rows rows = table_rows(100);
  const auto model = table_model();
  int64_t told = 0;
  TrainerHooks hooks;
  hooks.step_ended = [&](const StepReport&) { ++told; };
  Trainer(*model, quick(1, 16), 3).train(rows, hooks);
  EXPECT_EQ(told, 1) << "who asks is told without a folder";
}

}  // namespace
}  // namespace fovea::step_log_test
