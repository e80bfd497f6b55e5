// Modules in which every parameter counts, and a search for incremental decoders.
#pragma once

#include <memory>
#include <vector>

#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

/// The module initialised, biases and norms no longer 0 and 1: with normal numbers of that
/// deviation added to every parameter, from a stream by its name.
template <class M>
std::shared_ptr<M> stirred(std::shared_ptr<M> module, const Random& first, const Random& added,
                           double deviation) {
  module->initialise(first);
  torch::NoGradGuard no_gradients;
  for (auto& item : module->named_parameters())
    item.value() +=
        added.split(item.key())
            .normal_tensor(item.value().sizes(), 0, deviation, at::TensorOptions(at::kFloat));
  return module;
}

/// Which row each row of a step goes on from, in a search that repeats, drops and reorders rows; it
/// begins with a row for each source.
inline const std::vector<std::vector<int64_t>> kSearchOrigins = {
    {0, 1, 2, 3, 4}, {0, 0, 0, 1, 1, 2, 4, 4}, {2, 0, 1, 3, 3, 5, 7}, {6, 5, 0, 0}, {3, 3, 1}};
constexpr int64_t kSources = 5, kSourceLength = 7;

/// bool [B, S]: source i has i + 1 positions.
inline at::Tensor growing_sources() {
  return torch::arange(kSourceLength).unsqueeze(0) <= torch::arange(kSources).unsqueeze(1);
}

/// Calls `step(t, rows)` for each step of that search, after select() of the rows that it goes on
/// from.
template <class Incremental, class Step>
void follow_search(Incremental& incremental, const Step& step) {
  for (size_t t = 0; t < kSearchOrigins.size(); ++t) {
    if (t > 0) incremental.select(torch::tensor(kSearchOrigins[t], at::kLong));
    step(t, int64_t(kSearchOrigins[t].size()));
  }
}

}  // namespace fovea::testing
