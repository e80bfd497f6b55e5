// What the layers of stacked self-attention amount to together: rollout, and flow where it is
// affordable, as further maps of an explanation (explain/heads/rollout.h).
#pragma once

#include <vector>

#include "fovea/explain/record/explanation.h"

namespace fovea {

/// Adds "<name> rollout" and "<name> flow" for every family of dense maps from an axis to itself
/// that has two layers or more and no negative weight; heads count as their mean. Those that are
/// there already stay.
void add_rollout(std::vector<MapView>& maps);

}  // namespace fovea
