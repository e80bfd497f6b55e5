#include "fovea/metrics/classification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "tests/metrics/golden.h"

namespace fovea::classification_test {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Classification, BinaryMatchesReference) {
  const Json expected = golden("binary");
  const at::Tensor scores = tensor_of(expected["scores"]), targets = tensor_of(expected["targets"]);
  EXPECT_NEAR(accuracy(scores, targets), expected["accuracy"].get<double>(), 1e-12);
  EXPECT_NEAR(accuracy(scores.unsqueeze(1), targets), expected["accuracy"].get<double>(), 1e-12);
  EXPECT_NEAR(log_loss(tensor_of(expected["loss_scores"]), targets),
              expected["log_loss"].get<double>(), 1e-12);
  EXPECT_NEAR(auc(scores, targets).value(), expected["auc"].get<double>(), 1e-12);
}

TEST(Classification, SeveralClassesMatchReference) {
  const Json expected = golden("classes");
  const at::Tensor scores = tensor_of(expected["scores"]);
  const at::Tensor targets = tensor_of(expected["targets"]).to(at::kLong);
  const at::Tensor predicted = predicted_classes(scores);
  EXPECT_NEAR(accuracy(scores, targets), expected["accuracy"].get<double>(), 1e-12);
  EXPECT_NEAR(log_loss(scores, targets), expected["log_loss"].get<double>(), 1e-12);
  EXPECT_NEAR(macro_f1(predicted, targets, 4), expected["macro_f1"].get<double>(), 1e-12);
  EXPECT_TRUE(confusion_matrix(predicted, targets, 4)
                  .equal(tensor_of(expected["confusion"]).to(at::kLong)));
}

TEST(Classification, ConfidentMistakeCostsAFiniteAmount) {
  EXPECT_NEAR(log_loss(torch::tensor({0.0}), torch::tensor({1})), -std::log(1e-7), 1e-9);
  EXPECT_NEAR(log_loss(torch::tensor({{1.0, 0.0}}), torch::tensor({1})), -std::log(1e-7), 1e-9);
}

TEST(Classification, AucCountsTiesAsOneHalf) {
  EXPECT_DOUBLE_EQ(auc(torch::tensor({0.3, 0.3, 0.3, 0.3}), torch::tensor({0, 1, 0, 1})).value(),
                   0.5);
  EXPECT_DOUBLE_EQ(auc(torch::tensor({-5.0, 2.0, 9.0}), torch::tensor({0, 0, 1})).value(), 1);
  EXPECT_DOUBLE_EQ(auc(torch::tensor({9.0, 2.0, -5.0}), torch::tensor({0, 0, 1})).value(), 0);
}

TEST(Classification, AucIsNotDefinedForOneClassOrNaN) {
  EXPECT_FALSE(auc(torch::tensor({0.1, 0.9}), torch::tensor({1, 1})).has_value());
  EXPECT_FALSE(auc(torch::tensor({0.1, 0.9}), torch::tensor({0, 0})).has_value());
  EXPECT_FALSE(auc(torch::tensor({0.1, kNaN}), torch::tensor({0, 1})).has_value());
}

TEST(Classification, ARowWithNaNIsWrong) {
  EXPECT_DOUBLE_EQ(accuracy(torch::tensor({kNaN, 0.1}), torch::tensor({0, 0})), 0.5);
  const at::Tensor scores = torch::tensor({{0.9, kNaN}, {0.9, 0.1}});
  EXPECT_TRUE(predicted_classes(scores).equal(torch::tensor({-1, 0}, at::kLong)));
  EXPECT_DOUBLE_EQ(accuracy(scores, torch::tensor({1, 0})), 0.5);
  EXPECT_NEAR(macro_f1(predicted_classes(scores), torch::tensor({0, 0}), 2), 2.0 / 3, 1e-12);
}

TEST(Classification, MacroF1LeavesOutAbsentClasses) {
  const at::Tensor same = torch::tensor({0, 0, 2});
  EXPECT_DOUBLE_EQ(macro_f1(same, same, 10), 1);
  EXPECT_DOUBLE_EQ(macro_f1(torch::tensor({1, 1, 1}), torch::tensor({0, 0, 0}), 3), 0);
}

TEST(Classification, RefusesWhatDoesNotFit) {
  auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
      return error.what();
    }
    return "no error";
  };
  const at::Tensor two = torch::tensor({0.2, 0.8});
  EXPECT_NE(message([&] {
              accuracy(two, torch::tensor({0, 1, 1}));
            }).find("2 rows but 3"),
            std::string::npos);
  EXPECT_NE(message([&] {
              accuracy(two, torch::tensor({0, 2}));
            }).find("class 2"),
            std::string::npos);
  EXPECT_NE(message([&] {
              log_loss(two, torch::tensor({0.0, 0.5}));
            }).find("class 0.5"),
            std::string::npos);
  EXPECT_NE(
      message([&] { accuracy(torch::zeros({0}), torch::zeros({0})); }).find("at least one row"),
      std::string::npos);
  EXPECT_NE(message([&] {
              accuracy(torch::zeros({1, 2, 3}), torch::zeros({1}));
            }).find("[1, 2, 3]"),
            std::string::npos);
  EXPECT_NE(message([&] {
              auc(torch::zeros({2, 3}), torch::zeros({2}));
            }).find("two classes"),
            std::string::npos);
  EXPECT_NE(
      message([&] { confusion_matrix(torch::tensor({-1}), torch::tensor({0}), 2); }).find("-1"),
      std::string::npos);
}

TEST(Classification, ReportsAsScikitLearnHasThem) {
  const Json several = golden("classes"), binary = golden("binary");
  const at::Tensor scores = tensor_of(several["scores"]);
  const at::Tensor targets = tensor_of(several["targets"]).to(at::kLong);
  const at::Tensor confusion = confusion_matrix(predicted_classes(scores), targets, 4);
  EXPECT_NEAR(balanced_accuracy(confusion), 0.7165499533146592, 1e-12);
  EXPECT_NEAR(macro_auc(scores, targets).value(), 0.9277425058187527, 1e-12);
  const auto reports = class_reports(confusion);
  ASSERT_EQ(reports.size(), 4u);
  EXPECT_NEAR(reports[2].precision, 8.0 / 15, 1e-12);
  EXPECT_NEAR(reports[2].recall, 8.0 / 9, 1e-12);
  EXPECT_NEAR(reports[2].f1, 2.0 / 3, 1e-12);
  EXPECT_EQ(reports[2].support, 9);
  const at::Tensor two = tensor_of(binary["scores"]);
  const at::Tensor right = tensor_of(binary["targets"]).to(at::kLong);
  EXPECT_NEAR(balanced_accuracy(confusion_matrix(predicted_classes(two, 0.5), right, 2)),
              0.7209821428571428, 1e-12);
}

TEST(Classification, ClassesThatDoNotOccurCountNothing) {
  const at::Tensor confusion = torch::tensor({{3, 1, 0}, {0, 2, 0}, {0, 0, 0}});
  EXPECT_NEAR(balanced_accuracy(confusion), (0.75 + 1) / 2, 1e-12);
  EXPECT_EQ(class_reports(confusion)[2].f1, 0);
  const at::Tensor scores = torch::tensor({{0.7, 0.2, 0.1}, {0.3, 0.6, 0.1}});
  EXPECT_EQ(macro_auc(scores, torch::tensor({0, 1})).value(), 1);
  EXPECT_FALSE(macro_auc(scores, torch::tensor({1, 1})));
}

TEST(Classification, AThresholdPartsTwoClasses) {
  const at::Tensor scores = torch::tensor({0.2, 0.3, kNaN, 0.9}, at::kDouble);
  EXPECT_TRUE(predicted_classes(scores, 0.3).equal(torch::tensor({0, 1, -1, 1})));
  EXPECT_THROW(predicted_classes(torch::rand({2, 3}), 0.3), Error);
}

TEST(Classification, ResampledRankingsAreThoseOfTheRepeatedRows) {
  const Json binary = golden("binary");
  const at::Tensor scores = tensor_of(binary["scores"]), targets = tensor_of(binary["targets"]);
  std::vector<double> once(size_t(scores.numel()), 1), some(once.size());
  std::vector<int64_t> repeated;
  for (size_t i = 0; i < some.size(); ++i) {
    some[i] = double(i % 3);
    repeated.insert(repeated.end(), i % 3, int64_t(i));
  }
  const RankedScores ranked(scores, targets);
  EXPECT_NEAR(*ranked.auc(once), *auc(scores, targets), 1e-12);
  EXPECT_NEAR(*ranked.average_precision(once), 0.7970768266820898, 1e-12);
  const at::Tensor rows = torch::tensor(repeated);
  EXPECT_NEAR(*ranked.auc(some), *auc(scores.index({rows}), targets.index({rows})), 1e-12);
  EXPECT_FALSE(ranked.auc(std::vector<double>(once.size(), 0)));
}

}  // namespace
}  // namespace fovea::classification_test
