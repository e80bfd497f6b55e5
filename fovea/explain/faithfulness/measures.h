// What is measured: what each measure is called and means, what one example says about it, and
// how examples become one measure with an interval.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/metrics/statistics.h"

namespace fovea::faithfulness {

/// The mean of what is defined.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (value) values_.add(*value);
  }
  std::optional<double> value() const {
    return values_.count() > 0 ? std::optional<double>(values_.mean()) : std::nullopt;
  }

 private:
  RunningStatistics values_;
};

enum class Measure : size_t {
  Comprehensiveness,
  Sufficiency,
  DeletionArea,
  InsertionArea,
  GradientTau,
  LeaveOneOutTau,
  Permuted,
  Uniform,
  TopZeroed,
  Adversary,
  UntrainedTau,
  Auprc,
  TokenF1,
  IouF1,
  GradientAuprc,
};
constexpr size_t kMeasures = 15;

/// Who says in which order units are taken away or put back.
enum class Source : size_t { Attention, Gradient, LeaveOneOut, Random };
constexpr size_t kSources = 4;
constexpr std::array<const char*, kSources> kSourceNames = {"attention", "gradient x input",
                                                            "leave one out", "random"};

struct Finding {
  std::optional<double> value, baseline;
};

/// What one example says about one map.
struct Sample {
  std::array<Finding, kMeasures> findings;
  std::array<std::vector<double>, kSources> deletion, insertion;  // empty: not measured
  int64_t units = 0, outputs = 0;
  bool values = false, by_row = false, has_truth = false;
  bool has_adversary = false;            // one was looked for
  std::optional<double> largest_change;  // that taking units away made
  std::vector<UnitImportances> importances;
  std::vector<std::string> notes;

  Finding& operator[](Measure measure) { return findings[size_t(measure)]; }
  const Finding& operator[](Measure measure) const { return findings[size_t(measure)]; }
};

/// Mean and interval of every measure, mean curves over the shares `x`, notes with how many
/// examples they hold for; without trust and verdict.
Faithfulness summarise(const std::string& map, const std::vector<Sample>& samples,
                       const std::vector<double>& x);

}  // namespace fovea::faithfulness
