// Relative positions as T5 has them, Raffel et al. 2020: a number b_h(bucket) is added to the score
// of head h for a key that stands r = key - query places from its query. Distances share buckets:
//   the first half of them  one for each small distance
//   the second half         larger ones, wider and wider up to `maximum_distance`; all beyond it
//   too
// An encoder has half of all buckets for keys behind the query; a decoder, which sees none of
// these, has all for those before it.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include "fovea/tensor/random.h"

namespace fovea {

struct RelativeOptions {
  int64_t buckets = 32;
  int64_t maximum_distance = 128;
};

class RelativePositions : public torch::nn::Module {
 public:
  /// InvalidArgument for buckets that cannot be shared out so.
  RelativePositions(const RelativeOptions& options, int64_t heads, bool both_ways);
  void initialise(const Random& random);  // N(0, 1 / H)

  /// Keys stand at 0 … keys - 1, queries at first, first + 1, …: [1, H, queries, keys]
  at::Tensor scores(int64_t queries, int64_t keys, int64_t first) const;

  at::Tensor weight;  // [buckets, H]

 private:
  RelativeOptions options_;
  bool both_ways_;
};

/// The bucket of each distance key - query. int64 of any shape -> int64 of the same
at::Tensor relative_buckets(const at::Tensor& distance, const RelativeOptions& options,
                            bool both_ways);

}  // namespace fovea
