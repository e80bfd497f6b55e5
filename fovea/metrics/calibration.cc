#include "fovea/metrics/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

/// Scores and targets side by side, checked.
struct Rows {
  std::vector<double> scores, targets;
  bool has_nan = false;
  size_t size() const { return scores.size(); }
};

Rows to_rows(const at::Tensor& scores, const at::Tensor& targets) {
  require(scores.defined() && targets.defined() && scores.dim() == 1 &&
              scores.numel() == targets.numel(),
          ErrorKind::InvalidArgument, "calibration needs scores [N] and as many targets, found ",
          scores.defined() ? concat(scores.sizes()) : "none", " and ",
          targets.defined() ? concat(targets.sizes()) : "none");
  require(scores.numel() > 0, ErrorKind::InvalidArgument,
          "a metric needs at least one row, found none");
  Rows rows{to_vector<double>(scores), to_vector<double>(targets)};
  for (size_t row = 0; row < rows.size(); ++row) {
    const double score = rows.scores[row], target = rows.targets[row];
    require(target == 0 || target == 1, ErrorKind::InvalidArgument, "row ", row, " has class ",
            target, ", expected 0 or 1");
    require(std::isnan(score) || (score >= 0 && score <= 1), ErrorKind::InvalidArgument, "row ",
            row, " has the probability ", score, ", expected 0 to 1");
    rows.has_nan = rows.has_nan || std::isnan(score);
  }
  return rows;
}

}  // namespace

std::optional<double> average_precision(const at::Tensor& scores, const at::Tensor& targets) {
  const Rows rows = to_rows(scores, targets);
  const double positives = std::accumulate(rows.targets.begin(), rows.targets.end(), 0.0);
  if (rows.has_nan || positives == 0) return {};
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return rows.scores[a] > rows.scores[b]; });
  double found = 0, sum = 0;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double more = 0;  // of class 1 among the rows of this score
    for (; end < order.size() && rows.scores[order[end]] == rows.scores[order[begin]]; ++end)
      more += rows.targets[order[end]];
    found += more;
    sum += more / positives * (found / double(end));
  }
  return sum;
}

double brier_score(const at::Tensor& scores, const at::Tensor& targets) {
  const Rows rows = to_rows(scores, targets);
  double sum = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    const double miss = rows.scores[row] - rows.targets[row];
    sum += miss * miss;
  }
  return sum / double(rows.size());
}

std::vector<CalibrationBin> calibration_bins(const at::Tensor& scores, const at::Tensor& targets,
                                             int64_t bins) {
  require(bins >= 1 && bins <= 1'000'000, ErrorKind::InvalidArgument, bins,
          " bins; expected 1 to 1,000,000");
  const Rows rows = to_rows(scores, targets);
  auto result = std::vector<CalibrationBin>(size_t(bins));
  for (size_t row = 0; row < rows.size(); ++row) {
    const double score = rows.scores[row];
    // A NaN says nothing that could be right: it lies in the first bin and spoils its mean.
    const double place = std::isnan(score) ? 0 : std::floor(score * double(bins));
    CalibrationBin& bin = result[size_t(std::min(place, double(bins - 1)))];
    ++bin.rows;
    bin.said += score;
    bin.happened += rows.targets[row];
  }
  for (CalibrationBin& bin : result) {
    if (bin.rows == 0) continue;
    bin.said /= double(bin.rows);
    bin.happened /= double(bin.rows);
  }
  return result;
}

double expected_calibration_error(const at::Tensor& scores, const at::Tensor& targets,
                                  int64_t bins) {
  double sum = 0, rows = 0;
  for (const CalibrationBin& bin : calibration_bins(scores, targets, bins)) {
    sum += double(bin.rows) * std::abs(bin.said - bin.happened);
    rows += double(bin.rows);
  }
  return sum / rows;
}

std::optional<double> macro_average_precision(const at::Tensor& scores, const at::Tensor& targets) {
  if (scores.size(1) == 2) return average_precision(scores.select(1, 1), targets);
  double sum = 0, counted = 0;
  for (int64_t label = 0; label < scores.size(1); ++label)
    if (const auto precision = average_precision(scores.select(1, label), targets.eq(label)))
      sum += *precision, ++counted;
  return counted > 0 ? std::optional<double>(sum / counted) : std::nullopt;
}

double brier_score_of_classes(const at::Tensor& scores, const at::Tensor& targets) {
  if (scores.size(1) == 2) return brier_score(scores.select(1, 1), targets);
  const at::Tensor right = at::one_hot(targets.to(at::kLong), scores.size(1));  // [N, C]
  return (scores.to(at::kDouble) - right).square().sum(1).mean().item<double>();
}

double calibration_error_of_classes(const at::Tensor& scores, const at::Tensor& targets,
                                    int64_t bins) {
  if (scores.size(1) == 2) return expected_calibration_error(scores.select(1, 1), targets, bins);
  const auto [confidence, chosen] = scores.max(1);  // [N]
  // Sums of single precision may pass 1 by a rounding.
  return expected_calibration_error(confidence.to(at::kDouble).clamp(0, 1), chosen.eq(targets),
                                    bins);
}

}  // namespace fovea
