#include "fovea/models/logistic_regression.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea::logistic_regression_test {
namespace {

/// 60 rows of three classes: column c says the class in two thirds of the rows, column 3 nothing.
SparseClasses noisy_rows() {
  SparseClasses rows;
  for (int64_t row = 0; row < 60; ++row) {
    rows.classes.push_back(row % 3);
    rows.columns.push_back(row % 9 < 6 ? row % 3 : (row + 1) % 3);
    rows.columns.push_back(3);
    rows.values.insert(rows.values.end(), {1, float(row % 5) / 5});
    rows.offsets.push_back(int64_t(rows.columns.size()));
  }
  return rows;
}

/// The gradient of mean loss + |W|^2 / (2 C N), by autograd on a dense matrix.
double largest_gradient(const SparseClasses& rows, const LogisticRegression& found, double c) {
  const at::Tensor x = torch::zeros({rows.rows(), 4});
  for (int64_t row = 0; row < rows.rows(); ++row)
    for (int64_t i = rows.offsets[size_t(row)]; i < rows.offsets[size_t(row) + 1]; ++i)
      x[row][rows.columns[size_t(i)]] += rows.values[size_t(i)];
  const at::Tensor weight = found.weight.detach().clone().requires_grad_();
  const at::Tensor bias = found.bias.detach().clone().requires_grad_();
  const at::Tensor loss =
      torch::cross_entropy_loss(x.matmul(weight) + bias, torch::tensor(rows.classes)) +
      weight.square().sum() / (2 * c * double(rows.rows()));
  loss.backward();
  return std::max(weight.grad().abs().max().item<double>(), bias.grad().abs().max().item<double>());
}

TEST(LogisticRegression, ReachesTheOptimum) {
  const SparseClasses rows = noisy_rows();
  for (const double c : {0.1, 1.0, 100.0}) {
    const LogisticRegression found = fit_logistic_regression(
        rows, {.columns = 4, .classes = 3, .c = c, .iterations = 200, .tolerance = 1e-5});
    EXPECT_LT(largest_gradient(rows, found, c), 1e-4) << c;
  }
}

TEST(LogisticRegression, GoesOnFromAStart) {
  const SparseClasses rows = noisy_rows();
  const LogisticRegressionOptions options{.columns = 4, .classes = 3, .c = 1, .iterations = 200};
  const LogisticRegression first = fit_logistic_regression(rows, options);
  const LogisticRegression again = fit_logistic_regression(rows, options, first);
  EXPECT_TRUE(again.weight.allclose(first.weight, 1e-2, 1e-2));
  EXPECT_LE(again.log_loss(rows), first.log_loss(rows) + 1e-3);
}

TEST(LogisticRegression, RefusesColumnsAndClassesOutOfRange) {
  SparseClasses rows = noisy_rows();
  EXPECT_THROW(fit_logistic_regression(rows, {.columns = 3, .classes = 3}), Error);
  EXPECT_THROW(fit_logistic_regression(rows, {.columns = 4, .classes = 2}), Error);
  EXPECT_THROW(fit_logistic_regression({}, {.columns = 4, .classes = 2}), Error);
}

}  // namespace
}  // namespace fovea::logistic_regression_test
