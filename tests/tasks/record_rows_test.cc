// The table of rows of every task: it agrees with what evaluate() measures of the same rows.
#include "fovea/tasks/record_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/support/small_trainings.h"
#include "tests/support/temporary_folder.h"

namespace fovea::record_rows_test {
namespace {

using testing::SmallTraining;

class RecordedRowsOfTask : public ::testing::TestWithParam<SmallTraining> {
 protected:
  void SetUp() override {
    if (!GetParam().can_run()) GTEST_SKIP() << "needs ICU or SentencePiece";
    testing::train_small(GetParam(), folder.path() / "run", {"threads=1"});
    pipeline.emplace(Pipeline::load(folder.path() / "run"));
    const Splits splits = pipeline->load_data("");
    rows = splits.validation ? splits.validation : splits.train;
  }

  testing::TemporaryFolder folder;
  std::optional<Pipeline> pipeline;
  std::shared_ptr<Dataset> rows;
};

const RowColumn* find_column(const RowsRecord& record, const std::string& role) {
  for (const RowColumn& column : record.columns)
    if (column.role == role) return &column;
  return nullptr;
}

/// The metric that the judged rows come to, by kind of answers.
const std::map<std::string, std::string> kMetrics{
    {"class", "accuracy"}, {"choice", "accuracy"},  {"labels", "subset_accuracy"},
    {"number", "mae"},     {"text", "exact_match"}, {"span", "exact_match"}};

TEST_P(RecordedRowsOfTask, MeasureWhatEvaluateSays) {
  const RowsKind kind = pipeline->task().rows_kind();
  if (kind.name.empty()) {
    testing::expect_error(ErrorKind::Unsupported, "row by row",
                          [&] { record_rows(*pipeline, *rows, {}); });
    return;
  }
  RecordOptions options;
  options.explain = 2;
  options.faithfulness = false;
  const RecordedRows recorded = record_rows(*pipeline, *rows, options);
  const RowsRecord& record = recorded.record;
  EXPECT_EQ(record.kind, kind.name);
  EXPECT_EQ(record.rows, rows->size());
  EXPECT_NO_THROW(rows_to_json(record));
  EXPECT_EQ(recorded.explanations.size(), record.explained.size());
  EXPECT_LE(record.explained.size(), 2u);
  EXPECT_EQ(std::set(record.explained.begin(), record.explained.end()).size(),
            record.explained.size());
  for (const Explanation& explanation : recorded.explanations)
    EXPECT_FALSE(explanation.maps.empty());

  const RowColumn* right = find_column(record, "right");
  double sum = 0;
  if (kind.name == "number") {
    const RowColumn *answer = find_column(record, "answer"), *truth = find_column(record, "truth");
    ASSERT_TRUE(answer && truth);
    for (size_t i = 0; i < answer->numbers.size(); ++i)
      sum += std::abs(answer->numbers[i] - truth->numbers[i]);
  } else {
    ASSERT_TRUE(right);
    for (const int64_t place : right->places) sum += double(place);
  }
  const auto metric = kMetrics.find(kind.name);
  const Evaluation evaluation = pipeline->evaluate(*rows);
  const Metric* measured = metric == kMetrics.end() ? nullptr : evaluation.find(metric->second);
  if (measured != nullptr) {
    EXPECT_NEAR(sum / double(record.rows), measured->value,
                1e-4 * std::abs(measured->value) + 1e-9);
  }
  const RowColumn* distance = find_column(record, "distance");
  if (distance != nullptr && right != nullptr) {
    for (size_t i = 0; i < right->places.size(); ++i) {
      if (right->places[i] == 1) {
        EXPECT_EQ(distance->numbers[i], 0) << i;
      }
    }
  }
  if (const RowColumn* surprisal = find_column(record, "surprisal")) {
    for (const double nats : surprisal->numbers) EXPECT_GE(nats, -1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, RecordedRowsOfTask, ::testing::ValuesIn(testing::kSmallTrainings),
                         [](const auto& row) { return row.param.name(); });

}  // namespace
}  // namespace fovea::record_rows_test
