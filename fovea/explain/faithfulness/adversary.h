// Are there other weights that lead to the same answer, and how different can they be? If they can
// point anywhere, those that the network has explain little (Jain & Wallace 2019, section 4.2.2).
// For a map of one layer whose rows are shares of a whole, a; z is sought so that with
//   a' = softmax(z), as much of each row as a has, where a is above 0
//   mean over rows of JSD(a, a') is as large as possible while |p' - p| <= epsilon
// p being the probability of each unit of the answer: of two classes that is the total variation
// distance of the paper, of more a lower bound of it.
//   JSD(a, a') = KL(a || m) / 2 + KL(a' || m) / 2,  m = (a + a') / 2, at most ln 2
// By gradients (Adam) from several beginnings on -JSD + 500 relu(|p' - p| - epsilon), as the
// authors' code does it. What is found is a lower bound.
#pragma once

#include <optional>

#include "fovea/explain/faithfulness/instance.h"
#include "fovea/tensor/random.h"

namespace fovea::faithfulness {

struct AdversaryOptions {
  int64_t steps = 0;     // of the search; 0: none
  int64_t restarts = 5;  // side by side
  double epsilon = 0.01;
  Random random;
};

/// Of rows [..., K] that sum to the same: [...], 0 for rows that are equal.
at::Tensor jensen_shannon(const at::Tensor& one, const at::Tensor& other);

/// The largest divergence found; 0 where every other weight changes the answer. None for maps that
/// are no shares, have one key, or are of several layers, for answers that are numbers, and for
/// networks that give no gradient of their weights.
std::optional<double> most_different_weights(const Instance& instance, const AttentionMap& map,
                                             const AdversaryOptions& options);

}  // namespace fovea::faithfulness
