#include "fovea/metrics/labels.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/metrics/calibration.h"

namespace fovea {

namespace {

using at::Tensor;

void require_same_shape(const Tensor& one, const Tensor& targets) {
  require(one.dim() == 2 && one.sizes() == targets.sizes(), ErrorKind::InvalidArgument,
          "several labels: ", one.sizes(), " beside targets of ", targets.sizes(),
          "; both must be [rows, labels]");
}

double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

LabelCounts count_labels(const Tensor& predicted, const Tensor& targets,
                         std::span<const double> times) {
  require_same_shape(predicted, targets);
  const Tensor given = predicted.to(at::kDouble), right = targets.to(at::kDouble);
  if (times.empty()) return {(given * right).sum(0), given.sum(0), right.sum(0)};
  const Tensor weights = at::from_blob(const_cast<double*>(times.data()), {int64_t(times.size())},
                                       at::kDouble);  // [N]
  return {weights.matmul(given * right), weights.matmul(given), weights.matmul(right)};
}

double LabelCounts::micro_f1() const {
  return share_of(2 * hits.sum().item<double>(), (alarms + positives).sum().item<double>());
}

double LabelCounts::macro_f1() const {
  const Tensor whole = alarms + positives;  // [C]: 2 TP + FP + FN
  const Tensor f1 = 2 * hits / whole.clamp_min(1e-300);
  return share_of(f1.sum().item<double>(), whole.gt(0).sum().item<double>());
}

std::vector<ClassReport> LabelCounts::reports() const {
  std::vector<ClassReport> reports;
  for (int64_t c = 0; c < hits.size(0); ++c) {
    const auto hit = hits[c].item<double>(), alarm = alarms[c].item<double>(),
               positive = positives[c].item<double>();
    reports.push_back({share_of(hit, alarm), share_of(hit, positive),
                       share_of(2 * hit, alarm + positive), int64_t(positive)});
  }
  return reports;
}

double subset_accuracy(const Tensor& predicted, const Tensor& targets) {
  require_same_shape(predicted, targets);
  return predicted.to(at::kBool)
      .eq(targets.to(at::kBool))
      .all(1)
      .to(at::kDouble)
      .mean()
      .item<double>();
}

double hamming_loss(const Tensor& predicted, const Tensor& targets) {
  require_same_shape(predicted, targets);
  return predicted.to(at::kBool).ne(targets.to(at::kBool)).to(at::kDouble).mean().item<double>();
}

double label_log_loss(const Tensor& scores, const Tensor& targets) {
  constexpr double kClosest = 1e-7;
  require_same_shape(scores, targets);
  const Tensor p = scores.to(at::kDouble).clamp(kClosest, 1 - kClosest),
               y = targets.to(at::kDouble);
  return -(y * p.log() + (1 - y) * (1 - p).log()).mean().item<double>();
}

LabelRanking rank_labels(const Tensor& scores, const Tensor& targets) {
  require_same_shape(scores, targets);
  const int64_t rows = scores.size(0), labels = scores.size(1);
  LabelRanking sum;
  if (rows == 0) return sum;
  const Tensor all = scores.to(at::kDouble).contiguous();
  const Tensor right = targets.to(at::kBool).contiguous();
  for (int64_t row = 0; row < rows; ++row) {
    const double* score = all.data_ptr<double>() + row * labels;
    const bool* has = right.data_ptr<bool>() + row * labels;
    int64_t positives = 0, deepest = 0, wrong = 0;
    double precision = 0;
    for (int64_t c = 0; c < labels; ++c) {
      if (!has[c]) continue;
      int64_t rank = 0, right_ones = 0;  // ranked as high or higher, itself too
      for (int64_t other = 0; other < labels; ++other)
        if (score[other] >= score[c]) ++rank, right_ones += has[other];
      ++positives;
      precision += double(right_ones) / double(std::max<int64_t>(rank, 1));
      deepest = std::max(deepest, rank);
      wrong += rank - right_ones;
    }
    const int64_t pairs = positives * (labels - positives);
    sum.average_precision += pairs > 0 ? precision / double(positives) : 1;
    sum.coverage_error += double(deepest);
    sum.ranking_loss += pairs > 0 ? double(wrong) / double(pairs) : 0;
  }
  return {sum.average_precision / double(rows), sum.coverage_error / double(rows),
          sum.ranking_loss / double(rows)};
}

std::optional<double> mean_average_precision(const Tensor& scores, const Tensor& targets) {
  require_same_shape(scores, targets);
  double sum = 0;
  int64_t count = 0;
  for (int64_t c = 0; c < scores.size(1); ++c)
    if (const auto own = average_precision(scores.select(1, c), targets.select(1, c)))
      sum += *own, ++count;
  return count > 0 ? std::optional(sum / double(count)) : std::nullopt;
}

}  // namespace fovea
