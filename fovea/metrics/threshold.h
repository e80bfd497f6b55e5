// Where "yes" begins: the probability from which on class 1 is the answer, chosen by a rule on rows
// that were not trained on.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace fovea {

/// How a threshold is chosen:
///   0.3             this one
///   f1              the largest F1 of class 1
///   youden          the largest sensitivity + specificity - 1 (Youden 1950)
///   cost=FP:FN      the smallest cost, where a false alarm costs FP and a miss costs FN
///   precision=0.9   the most rows of class 1 found while at least 9 of 10 alarms are right
///   recall=0.9      the fewest false alarms while at least 9 of 10 rows of class 1 are found
class ThresholdRule {
 public:
  /// InvalidArgument lists the rules.
  explicit ThresholdRule(const std::string& text);

  const std::string& text() const { return text_; }
  /// A number: no rows are needed.
  bool is_fixed() const { return kind_ == Kind::Fixed; }

  /// The threshold for probabilities of class 1 [N] and targets 0 or 1 [N]: half-way between two
  /// scores; of equally good ones the nearest to 0.5. BadData where the rows hold one class only,
  /// or where nothing reaches a wanted precision.
  double choose(const at::Tensor& scores, const at::Tensor& targets) const;

 private:
  enum class Kind { Fixed, F1, Youden, Cost, Precision, Recall };
  struct Counts {
    double hits = 0, alarms = 0, positives = 0, negatives = 0;
  };
  /// Larger is better; -infinity is never chosen.
  double worth(const Counts& counts) const;

  std::string text_;
  Kind kind_ = Kind::Fixed;
  double value_ = 0.5, miss_ = 1;
};

}  // namespace fovea
