// The smallest change that changes the answer: units of one axis without which the model says
// something else, as few of them as a greedy search finds. Units join by how far the probability of
// the answer falls without them (leave one out), each step is checked by a prediction, and from
// what was found every unit is left out again that is not needed. A smaller set may exist.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/explain/what_if/without.h"

namespace fovea {

struct FlipOptions {
  std::string axis;   // empty: the first one that can lose units
  int64_t most = 10;  // units of a set
  /// What two answers must share to be the same one.
  std::function<std::string(const Example&, const Prediction&)> answer;
  /// Told of the predictions so far, and of how many there will be at most.
  std::function<void(int64_t done, int64_t most)> progress = nullptr;
};

struct Flip {
  AxisUnits away;           // no units: none were found
  int64_t predictions = 0;  // inputs that were given to the network
  int64_t most = 0;         // units that a set could have
};

/// Unsupported where the axis cannot lose units, InvalidArgument for one that the input does not
/// have.
Flip find_flip(const Predictor& predictor, const Example& example, const FlipOptions& options);

}  // namespace fovea
