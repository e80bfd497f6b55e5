#include "fovea/attention/low_rank.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

LowRankAdapter::LowRankAdapter(int64_t in, int64_t out, const LowRankOptions& options)
    : options_(options) {
  require(options.rank > 0, ErrorKind::InvalidArgument, "an adapter needs a rank of 1 at least");
  A = register_parameter("A", at::zeros({options.rank, in}));
  B = register_parameter("B", at::zeros({out, options.rank}));
}

void LowRankAdapter::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  const double limit = 1 / std::sqrt(double(A.size(1)));
  A.copy_(
      random.split("A").uniform_tensor(A.sizes(), -limit, limit, at::TensorOptions(at::kFloat)));
  B.zero_();
}

Tensor LowRankAdapter::forward(const Tensor& x, AdaptedRows rows, const Random* random) const {
  const Tensor narrow = linear_layer(dropout(x, options_.dropout, random, "lora"), A, {});
  return linear_layer(narrow, B.narrow(0, rows.first, rows.count), {}) *
         (options_.alpha / double(options_.rank));  // [..., rows]
}

Tensor LowRankAdapter::product() const {
  return B.matmul(A) * (options_.alpha / double(options_.rank));  // [out, in]
}

void LowRankAdapters::add(torch::nn::Module& owner, const std::string& name, const Tensor& weight,
                          AdaptedRows rows, const LowRankOptions& options) {
  require(rows.first >= 0 && rows.count > 0 && rows.first + rows.count <= weight.size(0),
          ErrorKind::InvalidArgument, "an adapter of the rows ", rows.first, " to ",
          rows.first + rows.count, " does not fit a weight of ", weight.sizes());
  list_.push_back({name, rows,
                   owner.register_module(name, std::make_shared<LowRankAdapter>(
                                                   weight.size(1), rows.count, options))});
}

Tensor LowRankAdapters::add_to(const Tensor& y, const Tensor& x, int64_t first,
                               const Random* random) const {
  Tensor sum = y;
  const int64_t last = first + y.size(-1);
  for (const auto& [name, rows, adapter] : list_) {
    const int64_t begin = std::max(first, rows.first),
                  end = std::min(last, rows.first + rows.count);
    if (begin >= end) continue;
    std::optional<Random> own;
    if (random) own = random->split(name);
    Tensor added = adapter->forward(x, {begin - rows.first, end - begin}, own ? &*own : nullptr);
    if (begin > first || end < last)
      added = at::constant_pad_nd(added, {begin - first, last - end});  // [..., n]
    sum = sum + added;
  }
  return sum;
}

Tensor LowRankAdapters::merged(const Tensor& weight) const {
  if (list_.empty()) return weight;
  torch::NoGradGuard no_gradients;
  Tensor sum = weight.detach().to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
  for (const auto& [name, rows, adapter] : list_)
    sum.narrow(0, rows.first, rows.count).add_(adapter->product());
  return sum;
}

}  // namespace fovea
