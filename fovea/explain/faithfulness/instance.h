// One prediction under examination: replayed as often as the measures need it, as rows of batches,
// and each time reduced to one number per output unit: its probability, or the value itself.
#pragma once

#include <span>
#include <vector>

#include "fovea/tensor/predictor.h"

namespace fovea::faithfulness {

using Outputs = std::vector<double>;  // one number per output unit
constexpr int64_t kAllUnits = -1;     // in place of an output unit: all of them together

/// Passes replacements on and keeps no map: hundreds of replays need none.
class QuietTap : public Tap {
 public:
  at::Tensor report(AttentionMap map) override { return replaced(map); }
};

struct Instance {
  const Predictor& predictor;
  Example example;    // as it was given
  Example described;  // with axes for its output
  Prediction prediction;
  std::vector<AttentionMap> maps = {};  // as the replay reported them, of one example
  bool values = false;                  // the outputs are numbers, not probabilities
  Outputs original = {};
  size_t rows_at_once = 1;  // of a batch: at most 256, fewer where the maps are large
  int64_t weights = 1;      // of all maps together

  /// The outputs of variants of the example, each one row of a batch, at most rows_at_once of them.
  std::vector<Outputs> replay(std::span<const Example> variants, Tap& tap) const;
  /// The same for copies of the example, where the tap makes the difference.
  std::vector<Outputs> replay_copies(size_t count, Tap& tap) const;

  /// How much less of an output unit there is than originally: for probabilities the fall, which is
  /// negative where they rose; for values the size of the change.
  double drop(int64_t unit, const Outputs& now) const;
  /// The size of the change.
  double change(int64_t unit, const Outputs& now) const;
  /// What a curve shows: the probability itself; for values the size of the change.
  double level(int64_t unit, const Outputs& now) const;
};

/// Replays the prediction once with its maps recorded.
Instance examine(const Predictor& predictor, const Example& example, const Prediction& prediction);

}  // namespace fovea::faithfulness
