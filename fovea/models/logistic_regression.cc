#include "fovea/models/logistic_regression.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "fovea/base/error.h"
#include "fovea/kernels/sparse_rows/sparse_rows.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr size_t kHistory = 6;            // pairs of steps and changes of the gradient
constexpr int64_t kMostHalvings = 20;     // of a step that does not lower the objective
constexpr double kEnoughDecrease = 1e-4;  // Armijo's share

kernels::SparseRows to_kernel(const SparseClasses& rows) {
  return {rows.rows(), rows.offsets.data(), rows.columns.data(), rows.values.data()};
}

Tensor to_targets(const SparseClasses& rows) {
  return rows.targets.defined() ? rows.targets : torch::tensor(rows.classes, at::kLong);
}

/// Summed over rows and outputs.
double loss_of(const Tensor& logits, const Tensor& targets, AnswerKind kind) {
  if (kind == AnswerKind::Number)
    return 0.5 * (logits - targets).square().sum(at::kDouble).item<double>();
  if (kind == AnswerKind::Labels)
    return (at::softplus(logits) - targets * logits).sum(at::kDouble).item<double>();
  return -logits.log_softmax(1).gather(1, targets.unsqueeze(1)).sum(at::kDouble).item<double>();
}

/// What the loss of each row says about its logits: [N, C].
Tensor change_of_logits(const Tensor& logits, const Tensor& targets, AnswerKind kind) {
  if (kind == AnswerKind::Number) return logits - targets;
  if (kind == AnswerKind::Labels) return logits.sigmoid() - targets;
  return logits.log_softmax(1).exp().scatter_add_(1, targets.unsqueeze(1),
                                                  torch::full({logits.size(0), 1}, -1.0F));
}

/// f and its gradient at one flat vector: W row by row, then b.
class LogisticObjective {
 public:
  LogisticObjective(const SparseClasses& rows, const LogisticRegressionOptions& options)
      : rows_(rows), options_(options), targets_(to_targets(rows)) {}

  LogisticRegression split(const Tensor& flat) const {
    const int64_t weights = options_.columns * options_.classes;
    return {flat.narrow(0, 0, weights).view({options_.columns, options_.classes}),
            flat.narrow(0, weights, options_.classes)};
  }
  double operator()(const Tensor& flat, Tensor& gradient) const {
    const LogisticRegression own = split(flat);
    const Tensor logits = own.logits(rows_);  // [N, C]
    const auto count = double(rows_.rows());
    const double penalty = 1 / (options_.c * count);
    const double loss = loss_of(logits, targets_, options_.kind) / count;
    const Tensor change =
        (change_of_logits(logits, targets_, options_.kind) / count).contiguous();  // [N, C]
    gradient = torch::zeros_like(flat);
    const LogisticRegression to = split(gradient);
    const kernels::SparseRows x = to_kernel(rows_);
    run_parallel(kernels::SparseRows::column_slices(options_.classes), [&](int64_t slice) {
      kernels::sparse_gradient(x, slice, change.data_ptr<float>(), options_.classes,
                               to.weight.data_ptr<float>());
    });
    Tensor(to.weight).add_(own.weight, penalty);
    Tensor(to.bias).copy_(change.sum(0));
    return loss + 0.5 * penalty * own.weight.square().sum(at::kDouble).item<double>();
  }

 private:
  const SparseClasses& rows_;
  const LogisticRegressionOptions& options_;
  Tensor targets_;  // [N] or [N, C]
};

double inner_product(const Tensor& a, const Tensor& b) {
  return a.dot(b).item<double>();
}

/// The newest steps and what they changed in the gradient: an inverse Hessian.
class LimitedMemory {
 public:
  void add(const Tensor& step, const Tensor& change) {
    const double product = inner_product(step, change);
    if (product <= 0) return;  // no curvature to learn from
    pairs_.push_back({step, change, 1 / product});
    if (pairs_.size() > kHistory) pairs_.pop_front();
  }
  /// -H gradient, by the two loops.
  Tensor direction(const Tensor& gradient) const {
    Tensor q = gradient.neg();
    std::vector<double> alphas(pairs_.size());
    for (size_t i = pairs_.size(); i-- > 0;) {
      alphas[i] = pairs_[i].rho * inner_product(pairs_[i].step, q);
      q.sub_(pairs_[i].change, alphas[i]);
    }
    if (!pairs_.empty()) {
      const Pair& last = pairs_.back();
      q.mul_(1 / (last.rho * inner_product(last.change, last.change)));
    }
    for (size_t i = 0; i < pairs_.size(); ++i)
      q.add_(pairs_[i].step, alphas[i] - pairs_[i].rho * inner_product(pairs_[i].change, q));
    return q;
  }

 private:
  struct Pair {
    Tensor step, change;
    double rho;
  };
  std::deque<Pair> pairs_;
};

void check_rows(const SparseClasses& rows, const LogisticRegressionOptions& options) {
  const auto inside = [](const std::vector<int64_t>& numbers, int64_t end) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](int64_t number) { return number >= 0 && number < end; });
  };
  require(rows.rows() > 0, ErrorKind::InvalidArgument, "logistic regression needs rows");
  const bool has_targets =
      options.kind == AnswerKind::Class
          ? int64_t(rows.classes.size()) == rows.rows()
          : rows.targets.defined() &&
                rows.targets.sizes() == at::IntArrayRef({rows.rows(), options.classes});
  require(has_targets, ErrorKind::InvalidArgument, "logistic regression: ", rows.rows(),
          " rows need as many targets of ", options.classes, " outputs");
  require(inside(rows.columns, options.columns) && inside(rows.classes, options.classes),
          ErrorKind::InvalidArgument, "a row names a column or class beyond ", options.columns,
          " and ", options.classes);
}

}  // namespace

Tensor LogisticRegression::logits(const SparseClasses& rows) const {
  const int64_t classes = weight.size(1);
  const Tensor y = torch::empty({rows.rows(), classes});
  const Tensor own = weight.contiguous();
  const kernels::SparseRows x = to_kernel(rows);
  run_parallel(x.slices(), [&](int64_t slice) {
    kernels::sparse_times(x, slice, own.data_ptr<float>(), classes, y.data_ptr<float>());
  });
  return y + bias;
}

double LogisticRegression::log_loss(const SparseClasses& rows, AnswerKind kind) const {
  return loss_of(logits(rows), to_targets(rows), kind) / double(rows.rows());
}

LogisticRegression fit_logistic_regression(const SparseClasses& rows,
                                           const LogisticRegressionOptions& options,
                                           LogisticRegression start) {
  torch::NoGradGuard no_gradients;
  check_rows(rows, options);
  const LogisticObjective objective(rows, options);
  Tensor x = torch::zeros({(options.columns + 1) * options.classes});
  if (start.weight.defined()) x = torch::cat({start.weight.reshape({-1}), start.bias});
  Tensor gradient;
  double value = objective(x, gradient);
  const double first = gradient.abs().max().item<double>();
  LimitedMemory memory;
  for (int64_t i = 0; i < options.iterations; ++i) {
    if (gradient.abs().max().item<double>() <= options.tolerance * first) break;
    const Tensor direction = memory.direction(gradient);
    const double slope = inner_product(direction, gradient);
    // The first direction is the gradient alone, of no known length.
    double length = i == 0 ? 1 / std::max(1e-12, gradient.norm().item<double>()) : 1;
    Tensor next, next_gradient;
    double next_value = value;
    bool found = false;
    for (int64_t tried = 0; tried < kMostHalvings && !found; ++tried, length /= 2) {
      next = x + direction * length;
      next_value = objective(next, next_gradient);
      found = next_value <= value + kEnoughDecrease * length * slope;
    }
    if (!found) break;  // as exact as float32 is
    memory.add(next - x, next_gradient - gradient);
    x = next;
    gradient = next_gradient;
    value = next_value;
  }
  return objective.split(x);
}

}  // namespace fovea
