// The input stays, the weights are changed: does the output depend on them at all? Permuted (Jain &
// Wallace 2019), uniform (Wiegreffe & Pinter 2019), and with one weight set to zero (Serrano &
// Smith 2019). Every change keeps what the map's kind promises.
#pragma once

#include <optional>

#include "fovea/explain/faithfulness/attributions.h"

namespace fovea::faithfulness {

/// Each row with its weights in an order of its own. weights [B, H, Q, K]
at::Tensor permuted_weights(const at::Tensor& weights, const Random& random);

/// Each row with its sum spread evenly.
at::Tensor uniform_weights(const at::Tensor& weights);

/// Each row without the weight of one key: the heaviest, or one drawn from the others. Where rows
/// are shares of a whole the rest grows to the old sum.
at::Tensor top_zeroed_weights(const at::Tensor& weights, MapKind kind);
at::Tensor random_zeroed_weights(const at::Tensor& weights, MapKind kind, const Random& random);

struct ControlOptions {
  int64_t permutations = 100;
  int64_t random_keys = 5;  // how many draws of a key that is zeroed
  Random random;
};

/// Sizes of output changes, the mean over the attributions. Not defined: not asked for, or fewer
/// than two keys.
struct Controls {
  std::optional<double> permuted;  // median over the permutations
  std::optional<double> uniform, top_zeroed, random_zeroed;
};

/// `map` is the one that the attributions were made from; all maps of its name are changed.
Controls change_weights(const Instance& instance, const AttentionMap& map,
                        const Attributions& attributions, const ControlOptions& options);

}  // namespace fovea::faithfulness
