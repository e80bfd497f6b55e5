// Taking units away and putting them back, in one order or another: comprehensiveness and
// sufficiency (DeYoung et al. 2020), deletion and insertion curves (Petsiuk et al. 2018).
#pragma once

#include <span>
#include <vector>

#include "fovea/explain/faithfulness/attributions.h"
#include "fovea/explain/faithfulness/erasures.h"
#include "fovea/explain/faithfulness/measures.h"

namespace fovea::faithfulness {

/// Numbers of units: the size of the rationale for each bin (at least one unit), and for each point
/// of a curve.
struct Steps {
  std::vector<int64_t> bins, points;
};
Steps rationale_steps(std::span<const double> bins, std::span<const double> x, int64_t units);

/// Rankings of units: one per attribution, or the same ones for every attribution.
struct Rankings {
  std::vector<Ranking> list;
  bool shared = false;
};

/// Asks for the outputs without the first n units, and without all but the first n.
void request_rankings(Erasures& erasures, const Rankings& rankings,
                      std::span<const int64_t> counts);

/// The mean over attributions (and over shared rankings) of the mean over the bins:
///   comprehensiveness  drop without the first n,  sufficiency  drop with the first n alone.
struct Aopc {
  std::optional<double> comprehensiveness, sufficiency;
};
Aopc measure_aopc(const Instance& instance, const Erasures& erasures,
                  const Attributions& attributions, const Rankings& rankings,
                  std::span<const int64_t> counts);

/// The mean over attributions (and over shared rankings) of the output along a ranking.
struct Curves {
  std::vector<double> deletion, insertion;
};
Curves measure_curves(const Instance& instance, const Erasures& erasures,
                      const Attributions& attributions, const Rankings& rankings,
                      std::span<const int64_t> counts);

/// By trapezoids, over the shares x from 0 to 1.
std::optional<double> area_under(std::span<const double> x, std::span<const double> values);

}  // namespace fovea::faithfulness
