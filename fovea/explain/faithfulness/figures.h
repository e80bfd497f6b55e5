// The figures that are measured: what each is called and means, what one example says about it, and
// how examples become one measure with an interval.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea::faithfulness {

enum class Figure : size_t {
  Comprehensiveness,
  Sufficiency,
  DeletionArea,
  InsertionArea,
  GradientTau,
  LeaveOneOutTau,
  Permuted,
  Uniform,
  TopZeroed,
  UntrainedTau,
  Auprc,
  TokenF1,
  IouF1,
  GradientAuprc,
};
constexpr size_t kFigures = 14;

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
  std::array<Finding, kFigures> findings;
  std::array<std::vector<double>, kSources> deletion, insertion;  // empty: not measured
  int64_t units = 0, outputs = 0;
  bool values = false, by_row = false, has_truth = false;
  std::optional<double> largest_change;  // that taking units away made
  std::vector<std::string> notes;

  Finding& operator[](Figure figure) { return findings[size_t(figure)]; }
  const Finding& operator[](Figure figure) const { return findings[size_t(figure)]; }
};

/// Mean and interval of every figure, mean curves over the shares `x`, notes with how many examples
/// they hold for; without trust and verdict.
Faithfulness summarise(const std::string& map, const std::vector<Sample>& samples,
                       const std::vector<double>& x);

}  // namespace fovea::faithfulness
