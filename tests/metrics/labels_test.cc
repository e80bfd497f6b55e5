#include "fovea/metrics/labels.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea::labels_test {
namespace {

const at::Tensor kTargets = torch::tensor({{1, 0, 0}, {0, 0, 1}});
const at::Tensor kScores = torch::tensor({{0.75, 0.5, 1.0}, {1.0, 0.2, 0.1}});

// Numbers of scikit-learn's documentation.
TEST(LabelRanking, AsScikitLearnHasIt) {
  const LabelRanking found = rank_labels(kScores, kTargets);
  EXPECT_NEAR(found.average_precision, 0.4166666, 1e-6);
  EXPECT_NEAR(found.coverage_error, 2.5, 1e-12);
  EXPECT_NEAR(found.ranking_loss, 0.75, 1e-12);
  const LabelRanking best = rank_labels(kTargets, kTargets);
  EXPECT_EQ(best.average_precision, 1);
  EXPECT_EQ(best.ranking_loss, 0);
  EXPECT_EQ(best.coverage_error, 1);
}

TEST(LabelRanking, RowsWithAllOrNoLabelsAndTies) {
  const LabelRanking none = rank_labels(kScores, torch::zeros({2, 3}));
  EXPECT_EQ(none.average_precision, 1);
  EXPECT_EQ(none.coverage_error, 0);
  EXPECT_EQ(none.ranking_loss, 0);
  const LabelRanking all = rank_labels(kScores, torch::ones({2, 3}));
  EXPECT_EQ(all.average_precision, 1);
  EXPECT_EQ(all.coverage_error, 3);
  const LabelRanking tied = rank_labels(torch::zeros({1, 4}), torch::tensor({{1, 0, 0, 0}}));
  EXPECT_EQ(tied.average_precision, 0.25) << "equal scores stand at the worst place";
  EXPECT_EQ(tied.ranking_loss, 1);
}

TEST(LabelCounts, F1OfLabels) {
  const at::Tensor predicted = torch::tensor({{1, 1, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}});
  const at::Tensor targets = torch::tensor({{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}});
  const LabelCounts counts = count_labels(predicted, targets);
  EXPECT_NEAR(counts.micro_f1(), 2 * 2 / 7.0, 1e-12);
  EXPECT_NEAR(counts.macro_f1(), (1 + 0 + 0) / 3.0, 1e-12) << "the fourth label is nowhere";
  const auto reports = counts.reports();
  EXPECT_EQ(reports[0].f1, 1);
  EXPECT_EQ(reports[0].support, 2);
  EXPECT_EQ(reports[2].recall, 0);
  EXPECT_EQ(subset_accuracy(predicted, targets), 0);
  EXPECT_EQ(subset_accuracy(targets, targets), 1);
  EXPECT_NEAR(hamming_loss(predicted, targets), 3 / 12.0, 1e-12);
  // A row that counts twice is a row that is there twice.
  const std::vector<double> times{2, 1, 0};
  const at::Tensor twice = torch::tensor({0, 0, 1});
  EXPECT_NEAR(
      count_labels(predicted, targets, times).macro_f1(),
      count_labels(predicted.index_select(0, twice), targets.index_select(0, twice)).macro_f1(),
      1e-12);
}

TEST(LabelMetrics, MeanAveragePrecisionAndLoss) {
  EXPECT_NEAR(mean_average_precision(kScores, kTargets).value(), 0.5, 1e-12)
      << "the second label has no row and is left out";
  EXPECT_FALSE(mean_average_precision(kScores, torch::zeros({2, 3})).has_value());
  EXPECT_NEAR(label_log_loss(torch::full({2, 3}, 0.5), kTargets), std::log(2.0), 1e-12);
  EXPECT_THROW(rank_labels(kScores, torch::zeros({2, 2})), Error);
}

}  // namespace
}  // namespace fovea::labels_test
