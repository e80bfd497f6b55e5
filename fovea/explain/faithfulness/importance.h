// Other opinions on what matters, which a map's attributions are held against: gradient x input,
// and what happens without each unit. One list of magnitudes per attribution.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/faithfulness/attributions.h"
#include "fovea/explain/faithfulness/erasures.h"

namespace fovea::faithfulness {

using Importances = std::vector<std::vector<double>>;  // attributions x units

/// |sum over a unit's features of gradient * value|, with the graph cut at the map called `map`
/// (Jain & Wallace 2019). Nothing where the predictor hands out no inputs of the axis, or none that
/// the output depends on.
std::optional<Importances> gradient_times_input(const Instance& instance, const AttentionMap& map,
                                                const Attributions& attributions);

/// The change of the output without each unit, to six digits of the output. The single units must
/// have been asked for.
Importances leave_one_out(const Instance& instance, const Erasures& erasures,
                          const Attributions& attributions);

}  // namespace fovea::faithfulness
