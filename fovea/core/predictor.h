// What explain/ and serving/ know of a trained network: nothing but this.
#pragma once

#include <span>
#include <vector>

#include "fovea/core/example.h"
#include "fovea/core/tap.h"

namespace fovea {

class Predictor {
 public:
  virtual ~Predictor() = default;

  virtual std::vector<Prediction> predict(std::span<const Example> examples) const = 0;

  /// Runs the chosen output once more with the tap on. Returns one log-probability or value per
  /// output unit [U].
  virtual at::Tensor replay(const Example& example, const Prediction& prediction,
                            Tap& tap) const = 0;

  /// The example with axes for what was put out, for maps whose queries are output units.
  virtual Example describe_output(const Example& example, const Prediction&) const {
    return example;
  }
};

}  // namespace fovea
