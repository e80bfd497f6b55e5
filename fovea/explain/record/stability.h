// How sure is each weight of a picture? Its interval when the training is repeated with other
// seeds, or when other examples had been drawn. Both give the mean map with `low`, `high` and
// `interval_of` filled in; intervals are cut to what the map's kind allows (a share is in 0..1).
#pragma once

#include <cstdint>
#include <span>

#include "fovea/explain/record/explanation.h"

namespace fovea {

/// The same map from networks trained with different seeds, labels and all: mean ± t s / sqrt(n),
/// the 95 % interval of metrics/statistics.h. A weight that fewer than two views know has no
/// interval (NaN). InvalidArgument for fewer than two views; Unsupported when their labels differ.
MapView mean_over_seeds(std::span<const MapView> views);

/// The same for whole explanations: maps are joined by name, layer and head; those that not every
/// explanation has are left out, with a note. The prediction says over how many seeds.
Explanation mean_over_seeds(std::span<const Explanation> explanations);

struct BootstrapOptions {
  int64_t resamples = 200;
  uint64_t seed = 0;
};

/// One view per example: the mean map as MapAverage makes it, and the 2.5 and 97.5 % points of the
/// means over `resamples` draws of as many examples, with replacement (Efron 1979). The same seed
/// gives the same interval. InvalidArgument without views or with fewer than 2 resamples.
MapView mean_with_bootstrap(std::span<const MapView> views, const BootstrapOptions& options = {});

}  // namespace fovea
