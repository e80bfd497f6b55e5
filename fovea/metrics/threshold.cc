#include "fovea/metrics/threshold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

[[noreturn]] void refuse_rule(const std::string& text) {
  const std::vector<std::string> rules{"f1", "youden", "cost", "precision", "recall"};
  fail(ErrorKind::InvalidArgument, "threshold '", text, "'",
       suggestion(text.substr(0, text.find('=')), rules),
       ": expected a probability such as 0.3, f1, youden, cost=FP:FN such as cost=1:5, ",
       "precision=0.9 or recall=0.9");
}

double number_in(const std::string& part, const std::string& text, double low, double high) {
  double value = 0;
  if (!parse_number(part, value) || !(value >= low && value <= high)) refuse_rule(text);
  return value;
}

}  // namespace

ThresholdRule::ThresholdRule(const std::string& text) : text_(text) {
  constexpr double kMostCost = 1e12;
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (text == "f1") {
    kind_ = Kind::F1;
  } else if (text == "youden") {
    kind_ = Kind::Youden;
  } else if (name == "cost" && value.find(':') != std::string::npos) {
    kind_ = Kind::Cost;
    value_ = number_in(value.substr(0, value.find(':')), text, 0, kMostCost);
    miss_ = number_in(value.substr(value.find(':') + 1), text, 0, kMostCost);
    require(value_ + miss_ > 0, ErrorKind::InvalidArgument, "threshold '", text,
            "': both costs are 0, so that every threshold is as good; expected cost=FP:FN such as ",
            "cost=1:5, where a miss costs 5 false alarms");
  } else if (name == "precision" || name == "recall") {
    kind_ = name == "precision" ? Kind::Precision : Kind::Recall;
    value_ = number_in(value, text, 0, 1);
  } else {
    value_ = number_in(text, text, 0, 1);
  }
}

double ThresholdRule::worth(const Counts& counts) const {
  const double misses = counts.positives - counts.hits, false_alarms = counts.alarms - counts.hits;
  const double recall = counts.hits / counts.positives;
  switch (kind_) {
    case Kind::F1:
      return 2 * counts.hits / (counts.positives + counts.alarms);
    case Kind::Youden:
      return recall - false_alarms / counts.negatives;
    case Kind::Cost:
      return -(value_ * false_alarms + miss_ * misses);
    case Kind::Precision:
      return counts.alarms > 0 && counts.hits >= value_ * counts.alarms ? recall : kNever;
    case Kind::Recall:
      return recall >= value_ ? -false_alarms : kNever;
    case Kind::Fixed:
      break;
  }
  return kNever;
}

double ThresholdRule::choose(const at::Tensor& scores, const at::Tensor& targets) const {
  if (is_fixed()) return value_;
  const std::vector<double> score = to_vector<double>(scores), target = to_vector<double>(targets);
  require(score.size() == target.size(), ErrorKind::InvalidArgument, "there are ", score.size(),
          " scores but ", target.size(), " targets");
  Counts counts;
  for (const double value : target) (value == 1 ? counts.positives : counts.negatives) += 1;
  require(counts.positives > 0 && counts.negatives > 0, ErrorKind::BadData, "threshold ", text_,
          ": the rows to choose it on hold one class only; give a number");
  require(std::ranges::none_of(score, [](double value) { return std::isnan(value); }),
          ErrorKind::BadData, "threshold ", text_,
          ": some probabilities are not numbers; the training diverged");
  std::vector<size_t> order(score.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return score[a] > score[b]; });

  double best = worth(counts), chosen = 1;  // nobody; half-way between 1 and the largest score
  chosen = (1 + score[order[0]]) / 2;
  if (chosen <= score[order[0]]) best = kNever;  // a score of 1 is always an alarm
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const double here = score[order[begin]];
    for (; end < order.size() && score[order[end]] == here; ++end) {
      counts.alarms += 1;
      counts.hits += target[order[end]];
    }
    const double next = end < order.size() ? score[order[end]] : 0;
    // Half-way may round to the lower score, which would then be an alarm too.
    const double threshold = (here + next) / 2 > next ? (here + next) / 2 : here;
    const double now = worth(counts);
    if (now > best ||
        (now == best && now > kNever && std::abs(threshold - 0.5) < std::abs(chosen - 0.5))) {
      best = now;
      chosen = threshold;
    }
  }
  require(best > kNever, ErrorKind::BadData, "threshold ", text_,
          ": no threshold reaches it on the validation rows; ask for less");
  return chosen;
}

}  // namespace fovea
