// One map of one example, evaluated by every measure.
#pragma once

#include <span>
#include <vector>

#include "fovea/explain/faithfulness/attributions.h"
#include "fovea/explain/faithfulness/erasures.h"
#include "fovea/explain/faithfulness/measures.h"

namespace fovea::faithfulness {

struct Setting {
  const FaithfulnessOptions& options;
  const std::vector<double>& x;  // shares of units, of the curves
  const Instance& instance;
  Erasures& erasures;                       // of the map's key axis
  std::span<const AttentionMap> untrained;  // all maps of the untrained network
  Random random;
};

/// `layers`: the maps of one name.
Sample evaluate(std::span<const AttentionMap> layers, const Setting& setting);

}  // namespace fovea::faithfulness
