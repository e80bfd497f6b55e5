// Should the picture be believed? Attention says where a network looked; whether that mattered is
// measured here, for every network alike, by taking units of the input away and by changing the
// weights. docs/faithfulness.md has the formulas and their papers; beside each figure stands the
// same figure for random rationales, and one plain sentence says what all of it means.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/tensor/predictor.h"

namespace fovea {

struct FaithfulnessMeasure {
  std::string name;                               // "comprehensiveness"
  std::optional<double> value;                    // none where it is not defined
  std::optional<std::array<double, 2>> interval;  // 95 %, over the examples
  std::optional<double> baseline;                 // the same for random rationales
  std::string better;                             // "higher", "lower" or "none"
  std::string about;                              // one sentence
};

struct FaithfulnessCurve {
  struct Series {
    std::string name;  // "attention", "gradient x input", "leave one out", "random"
    std::vector<double> values;
  };
  std::string name, about;  // "deletion" or "insertion"
  std::vector<double> x;    // shares of units, rising
  std::vector<Series> series;
};

/// How much each unit of the map's key axis matters, by the weights and by what they are held
/// against.
struct UnitImportances {
  std::optional<int64_t> row;  // of the map; none: all of its rows together
  std::vector<FaithfulnessCurve::Series>
      series;  // "attention", "gradient x input", "leave one out"
};

struct Faithfulness {
  std::string map;      // the map that was judged
  std::string verdict;  // one plain sentence
  std::string trust;    // "supported", "mixed", "unsupported" or "unknown"
  int64_t examples = 0;
  std::string output;  // what "the output" was: "probability of the answer"
  std::vector<FaithfulnessMeasure> measures;
  std::vector<FaithfulnessCurve> curves;
  std::vector<UnitImportances> importances;  // of a single example
  std::vector<std::string> notes;
  /// What of a map with heads or layers was judged: "mean of heads", "mean of layers", "rollout";
  /// empty: the map itself.
  std::string judged_as = "";
};

struct FaithfulnessOptions {
  std::vector<double> bins = {0.01, 0.05, 0.1, 0.2, 0.5};  // shares of units that are a rationale
  int64_t random_rationales = 5;                           // averaged for every baseline
  int64_t permutations = 100;                              // of the weights of each row
  int64_t curve_points = 11;                               // from no unit to all; 0: no curves
  int64_t most_rows = 32;          // of a map judged row by row; of more rows so many are drawn
  int64_t adversary_steps = 0;     // of the search for other weights with the same answer; 0: none
  bool randomised_weights = true;  // the control with an untrained network
  uint64_t seed = 0;
  std::function<void(int64_t examples)> progress = {};  // told how many are done
};

/// One entry per map that the predictor reports, in their order; a map of several heads is judged
/// by their mean, stacked self-attention by its rollout. A measure that the predictor cannot give
/// (an axis that cannot lose units, no gradients, no untrained network) has no value, and a note
/// says why. Examples are measured side by side (tensor/parallel.h); the result does not depend on
/// the number of threads. InvalidArgument without examples.
std::vector<Faithfulness> measure_faithfulness(const Predictor& predictor,
                                               std::span<const Example> examples,
                                               const FaithfulnessOptions& options = {});

}  // namespace fovea
