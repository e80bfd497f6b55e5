#include "fovea/nn/transformer/relative_positions.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

RelativePositions::RelativePositions(const RelativeOptions& options, int64_t heads, bool both_ways)
    : options_(options), both_ways_(both_ways) {
  const int64_t own = both_ways ? options.buckets / 2 : options.buckets;  // of one direction
  require(own >= 2 && options.maximum_distance > own / 2, ErrorKind::InvalidArgument,
          options.buckets, " buckets cannot be shared out up to a distance of ",
          options.maximum_distance, "; expected at least ", both_ways ? 4 : 2,
          " and a distance of more than ", own / 2);
  weight = register_parameter("weight", at::zeros({options.buckets, heads}));
}

void RelativePositions::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  weight.copy_(
      random.normal_tensor(weight.sizes(), 0, 1 / std::sqrt(double(weight.size(1))), at::kFloat));
}

Tensor RelativePositions::scores(int64_t queries, int64_t keys, int64_t first) const {
  const auto numbers = at::TensorOptions(at::kLong).device(weight.device());
  const Tensor distance =
      at::arange(keys, numbers) - at::arange(first, first + queries, numbers).unsqueeze(1);
  const Tensor buckets = relative_buckets(distance, options_, both_ways_);   // [Q, K]
  return embedding_lookup(weight, buckets).permute({2, 0, 1}).unsqueeze(0);  // [1, H, Q, K]
}

Tensor relative_buckets(const Tensor& distance, const RelativeOptions& options, bool both_ways) {
  const int64_t own = both_ways ? options.buckets / 2 : options.buckets;  // of one direction
  const int64_t exact = own / 2;
  const Tensor places = both_ways ? distance.abs() : (-distance).clamp_min(0);
  // In float32, as PyTorch does it: which bucket a distance at a border falls into depends on it.
  const Tensor rounded = (places.clamp_min(1).to(at::kFloat) / double(exact)).log() /
                         std::log(double(options.maximum_distance) / double(exact)) *
                         double(own - exact);
  const Tensor wide = (rounded.to(at::kLong) + exact).clamp_max(own - 1);
  const Tensor bucket = at::where(places < exact, places, wide);
  return both_ways ? bucket + (distance > 0) * own : bucket;
}

}  // namespace fovea
