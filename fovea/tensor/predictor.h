// What explain/ and serving/ know of a trained network: nothing but this.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fovea/tensor/example.h"
#include "fovea/tensor/tap.h"

namespace fovea {

class Predictor {
 public:
  virtual ~Predictor() = default;

  virtual std::vector<Prediction> predict(std::span<const Example> examples) const = 0;

  /// Runs the chosen outputs once more with the tap on. Returns one log-probability per output
  /// unit, or one number where the prediction has values [B, U]; rows with fewer units end in 0.
  virtual at::Tensor replay_batch(std::span<const Example> examples,
                                  std::span<const Prediction> predictions, Tap& tap) const = 0;
  /// The same for one example [U].
  at::Tensor replay(const Example& example, const Prediction& prediction, Tap& tap) const;

  /// The example with axes for what was put out, for maps whose queries are output units.
  virtual Example describe_output(const Example& example, const Prediction&) const {
    return example;
  }

  /// The example without these units of the axis: unknown symbols in their place, column means,
  /// whatever "not there" means for their kind. The axes keep their sizes. Unsupported for an axis
  /// that cannot lose units.
  virtual Example erase(const Example& example, const std::string& axis,
                        std::span<const int64_t> units) const;

  /// The same network with weights that were never trained; null where there is no such thing.
  virtual std::unique_ptr<Predictor> randomised(uint64_t seed) const { return nullptr; }
};

}  // namespace fovea
