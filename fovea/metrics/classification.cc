#include "fovea/metrics/classification.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

constexpr double kSmallestProbability = 1e-7;

at::Tensor plain(const at::Tensor& tensor, at::ScalarType type) {
  return tensor.detach().to(at::kCPU, type).contiguous();
}

/// Probabilities as double: [N] for two classes, [N, C] for several.
at::Tensor probabilities(const at::Tensor& scores) {
  require(scores.defined() && (scores.dim() == 1 || scores.dim() == 2), ErrorKind::InvalidArgument,
          "scores must have shape [N] or [N, C], found ",
          scores.defined() ? concat(scores.sizes()) : "none");
  at::Tensor result = plain(scores, at::kDouble);
  if (result.dim() == 2 && result.size(1) == 1) result = result.squeeze(1);  // [N]
  require(result.dim() == 1 || result.size(1) > 1, ErrorKind::InvalidArgument,
          "scores need at least one class, found shape ", scores.sizes());
  return result;
}

/// Class numbers [N], checked against the number of rows and classes.
at::Tensor class_numbers(const at::Tensor& classes, int64_t rows, int64_t limit) {
  require(classes.defined() && classes.numel() == rows, ErrorKind::InvalidArgument,
          "there are scores for ", rows, " rows but ", classes.defined() ? classes.numel() : 0,
          " targets");
  require(rows > 0, ErrorKind::InvalidArgument, "a metric needs at least one row, found none");
  const at::Tensor numbers = plain(classes, at::kDouble).flatten();  // [N]
  const double* values = numbers.data_ptr<double>();
  for (int64_t row = 0; row < rows; ++row) {
    require(
        values[row] >= 0 && values[row] < double(limit) && values[row] == std::floor(values[row]),
        ErrorKind::InvalidArgument, "row ", row, " has class ", values[row],
        ", expected a whole number from 0 to ", limit - 1);
  }
  return numbers.to(at::kLong);
}

int64_t count_classes(const at::Tensor& scores) {
  return scores.dim() == 1 ? 2 : scores.size(1);
}

}  // namespace

at::Tensor predicted_classes(const at::Tensor& scores) {
  const at::Tensor values = probabilities(scores);
  const bool binary = values.dim() == 1;
  const at::Tensor chosen = binary ? values.ge(0.5).to(at::kLong) : values.argmax(1);  // [N]
  const at::Tensor broken = binary ? values.isnan() : values.isnan().any(1);           // [N]
  return chosen.masked_fill(broken, -1);
}

at::Tensor predicted_classes(const at::Tensor& scores, double threshold) {
  const at::Tensor values = probabilities(scores);
  require(values.dim() == 1, ErrorKind::InvalidArgument,
          "a threshold separates two classes and needs scores [N], found ", scores.sizes());
  return values.ge(threshold).to(at::kLong).masked_fill(values.isnan(), -1);  // [N]
}

double accuracy(const at::Tensor& scores, const at::Tensor& targets) {
  const at::Tensor values = probabilities(scores);
  const at::Tensor truth = class_numbers(targets, values.size(0), count_classes(values));
  return predicted_classes(values).eq(truth).to(at::kDouble).mean().item<double>();
}

double log_loss(const at::Tensor& scores, const at::Tensor& targets) {
  const at::Tensor values = probabilities(scores);
  const at::Tensor truth = class_numbers(targets, values.size(0), count_classes(values));
  const at::Tensor of_target = values.dim() == 1
                                   ? at::where(truth.eq(1), values, 1 - values)
                                   : values.gather(1, truth.unsqueeze(1)).squeeze(1);  // [N]
  return -of_target.clamp(kSmallestProbability, 1 - kSmallestProbability)
              .log()
              .mean()
              .item<double>();
}

std::optional<double> auc(const at::Tensor& scores, const at::Tensor& targets) {
  const at::Tensor values = probabilities(scores);
  require(values.dim() == 1, ErrorKind::InvalidArgument,
          "AUC compares two classes and needs scores [N], found ", scores.sizes());
  const int64_t rows = values.size(0);
  const at::Tensor truth = class_numbers(targets, rows, 2);
  const double* score = values.data_ptr<double>();
  const int64_t* target = truth.data_ptr<int64_t>();
  if (std::any_of(score, score + rows, [](double value) { return std::isnan(value); })) return {};

  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int64_t left, int64_t right) { return score[left] < score[right]; });
  double rank_sum = 0;  // of class 1, ranks from 1, ties share their mean rank
  double positives = 0;
  for (int64_t first = 0; first < rows;) {
    int64_t last = first;
    double tied_positives = 0;
    for (; last < rows && score[order[last]] == score[order[first]]; ++last)
      tied_positives += double(target[order[last]]);
    rank_sum += tied_positives * 0.5 * double(first + 1 + last);
    positives += tied_positives;
    first = last;
  }
  const double negatives = double(rows) - positives;
  if (positives == 0 || negatives == 0) return {};
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

at::Tensor confusion_matrix(const at::Tensor& predicted, const at::Tensor& targets,
                            int64_t classes) {
  const at::Tensor truth =
      class_numbers(targets, predicted.defined() ? predicted.numel() : 0, classes);
  const at::Tensor chosen = class_numbers(predicted, truth.numel(), classes);
  return at::bincount(truth * classes + chosen, {}, classes * classes)
      .reshape({classes, classes});  // [C, C]
}

double macro_f1(const at::Tensor& predicted, const at::Tensor& targets, int64_t classes) {
  const at::Tensor truth =
      class_numbers(targets, predicted.defined() ? predicted.numel() : 0, classes);
  const at::Tensor chosen =
      plain(predicted, at::kLong).flatten();  // [N], -1 where nothing was chosen
  double sum = 0;
  int64_t counted = 0;
  for (int64_t label = 0; label < classes; ++label) {
    const at::Tensor is_truth = truth.eq(label), is_chosen = chosen.eq(label);
    const auto hits = is_truth.logical_and(is_chosen).sum().item<int64_t>();
    const auto mentions = is_truth.sum().item<int64_t>() + is_chosen.sum().item<int64_t>();
    if (mentions == 0) continue;
    sum += 2.0 * double(hits) / double(mentions);
    ++counted;
  }
  return sum / double(counted);
}

double balanced_accuracy(const at::Tensor& confusion) {
  const at::Tensor counts = plain(confusion, at::kDouble), support = counts.sum(1);  // [C]
  const at::Tensor occurs = support.gt(0);
  require(occurs.any().item<bool>(), ErrorKind::InvalidArgument,
          "a metric needs at least one row, found none");
  return (counts.diagonal() / support).masked_select(occurs).mean().item<double>();
}

std::vector<ClassReport> class_reports(const at::Tensor& confusion) {
  const at::Tensor counts = plain(confusion, at::kLong);
  const auto share = [](int64_t part, int64_t whole) {
    return whole == 0 ? 0 : double(part) / double(whole);
  };
  std::vector<ClassReport> reports;
  for (int64_t label = 0; label < counts.size(0); ++label) {
    const auto hits = counts[label][label].item<int64_t>();
    const auto support = counts[label].sum().item<int64_t>();
    const auto chosen = counts.select(1, label).sum().item<int64_t>();
    reports.push_back(
        {share(hits, chosen), share(hits, support), share(2 * hits, chosen + support), support});
  }
  return reports;
}

std::optional<double> macro_auc(const at::Tensor& scores, const at::Tensor& targets) {
  const at::Tensor values = probabilities(scores);
  if (values.dim() == 1) return auc(values, targets);
  if (values.size(1) == 2) return auc(values.select(1, 1), targets);
  const at::Tensor truth = class_numbers(targets, values.size(0), values.size(1));
  double sum = 0, counted = 0;
  for (int64_t label = 0; label < values.size(1); ++label)
    if (const auto area = auc(values.select(1, label), truth.eq(label))) sum += *area, ++counted;
  return counted > 0 ? std::optional<double>(sum / counted) : std::nullopt;
}

RankedScores::RankedScores(const at::Tensor& scores, const at::Tensor& targets) {
  const at::Tensor values = probabilities(scores);
  require(values.dim() == 1, ErrorKind::InvalidArgument, "a ranking needs scores [N], found ",
          scores.sizes());
  const at::Tensor truth = class_numbers(targets, values.size(0), 2);
  const at::Tensor order = std::get<1>(values.sort(/*stable=*/true, 0, /*descending=*/true));
  for (int64_t place = 0; place < order.size(0); ++place) {
    const int64_t row = order.data_ptr<int64_t>()[place];
    rows_.push_back(row);
    scores_.push_back(values.data_ptr<double>()[row]);
    positives_.push_back(truth.data_ptr<int64_t>()[row] == 1);
  }
}

std::optional<double> RankedScores::auc(std::span<const double> times) const {
  double positives = 0, negatives = 0, wins = 0;  // positives are those ranked higher so far
  for (size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
    double tied_positives = 0, tied_negatives = 0;
    for (; end < rows_.size() && scores_[end] == scores_[begin]; ++end)
      (positives_[end] ? tied_positives : tied_negatives) += times[size_t(rows_[end])];
    wins += tied_negatives * (positives + tied_positives / 2);
    positives += tied_positives;
    negatives += tied_negatives;
  }
  if (positives == 0 || negatives == 0) return {};
  return wins / (positives * negatives);
}

std::optional<double> RankedScores::average_precision(std::span<const double> times) const {
  double found = 0, seen = 0, sum = 0;
  for (size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
    double more = 0;
    for (; end < rows_.size() && scores_[end] == scores_[begin]; ++end) {
      const double count = times[size_t(rows_[end])];
      seen += count;
      if (positives_[end]) more += count;
    }
    found += more;
    if (more > 0) sum += more * found / seen;
  }
  if (found == 0) return {};
  return sum / found;
}

}  // namespace fovea
