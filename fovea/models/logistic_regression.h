// Multinomial logistic regression on sparse rows, fitted by L-BFGS (Nocedal 1980; Liu and Nocedal
// 1989):
//   p_n   softmax(W^T x_n + b)
//   f     1/N sum_n -log p_n(class) + 1/(2 C N) |W|^2      C as scikit-learn has it; b is free
// Of several labels p_n = sigmoid(W^T x_n + b), and the loss is the binary cross entropy summed
// over the labels: one regression for each against the rest. Of a number it is half the squared
// error. The objective is convex: the answer depends on the data alone, not on a seed or the
// threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "fovea/tensor/answer_kind.h"

namespace fovea {

/// Rows of a sparse matrix and their classes: row n has values[i] in column columns[i] for
/// i = offsets[n] … offsets[n + 1] - 1.
struct SparseClasses {
  std::vector<int64_t> offsets{0}, columns;
  std::vector<float> values;
  std::vector<int64_t> classes = {};  // of each row, where it has one
  at::Tensor targets = {};            // otherwise 0 or 1 of each label [N, C], or numbers [N, 1]

  int64_t rows() const { return offsets.empty() ? 0 : static_cast<int64_t>(offsets.size()) - 1; }
};

struct LogisticRegression {
  at::Tensor weight;  // [columns, C]
  at::Tensor bias;    // [C]

  at::Tensor logits(const SparseClasses& rows) const;  // [N, C]
  double log_loss(const SparseClasses& rows, AnswerKind kind = AnswerKind::Class)
      const;  // mean over the rows of what is minimised
};

struct LogisticRegressionOptions {
  int64_t columns = 0, classes = 2;
  double c = 1;  // inverse strength of the penalty
  int64_t iterations = 50;
  double tolerance = 1e-4;  // of the gradient's largest number, as a share of the first one
  AnswerKind kind = AnswerKind::Class;
};

/// Goes on from `start`, where it is defined. InvalidArgument for a column or class out of range.
LogisticRegression fit_logistic_regression(const SparseClasses& rows,
                                           const LogisticRegressionOptions& options,
                                           LogisticRegression start = {});

}  // namespace fovea
