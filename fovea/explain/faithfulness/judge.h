// One map of one example, judged by every measure.
#pragma once

#include <span>
#include <vector>

#include "fovea/explain/faithfulness/claims.h"
#include "fovea/explain/faithfulness/erasures.h"
#include "fovea/explain/faithfulness/figures.h"

namespace fovea::faithfulness {

struct Setting {
  const FaithfulnessOptions& options;
  const std::vector<double>& x;  // shares of units, of the curves
  const Subject& subject;
  Erasures& erasures;                       // of the map's key axis
  std::span<const AttentionMap> untrained;  // all maps of the untrained network
  Random random;
};

/// `layers`: the maps of one name.
Sample judge(std::span<const AttentionMap> layers, const Setting& setting);

}  // namespace fovea::faithfulness
