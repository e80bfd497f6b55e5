// What a request may cost, found out before it is computed: the units of its inputs (tokens, steps,
// cells: how long they are) and the weights of an explanation (how large the answer is, and the
// memory that it takes). docs/serving.md has the limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/explain/record/explanation.h"

namespace fovea::serving {

/// Measuring faithfulness replays an input many times over, with gradients: a map may be so many
/// times smaller then.
inline constexpr int64_t kFaithfulnessShare = 16;

/// HttpError 422.
void check_units(int64_t units, int64_t most, const std::string& field);
void check_weights(int64_t weights, int64_t most);

/// Which maps a model's explanations have: learned from one of them, it tells how many weights
/// another will have.
class ExplanationShape {
 public:
  /// `first` has all heads.
  explicit ExplanationShape(const Explanation& first);

  /// Of the example, as its axes say. An axis that it does not have, since it is of the output,
  /// counts as one unit.
  int64_t weights(const Example& example, const HeadChoice& choice) const;

 private:
  struct Map {
    std::string query_axis, key_axis;
    int64_t layer = 0, head = 0;
    bool of_stack = false;     // rollout or flow: only with the whole
    double weights_per_query;  // of layouts other than dense; else 0
  };
  std::vector<Map> maps_;
};

}  // namespace fovea::serving
