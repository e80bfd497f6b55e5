#include "fovea/metrics/attention_truth.h"

#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

/// `keep` with the shape of `weights`.
at::Tensor spread_over(const at::Tensor& keep, const at::Tensor& weights) {
  const auto shape = weights.sizes();
  std::vector<std::vector<int64_t>> allowed = {{shape.back()}};
  if (weights.dim() == 2) {
    allowed.push_back({shape[0], shape[1]});
  } else {
    allowed.push_back({shape[2], shape[3]});
    allowed.push_back({shape[0], shape[2], shape[3]});
  }
  for (const auto& candidate : allowed) {
    if (keep.sizes() != at::IntArrayRef(candidate)) continue;
    const at::Tensor mask = keep.detach().to(at::kCPU).ne(0);
    return (candidate.size() == 3 ? mask.unsqueeze(1) : mask).expand(shape);  // as weights
  }
  fail(ErrorKind::InvalidArgument, "weights of shape ", shape, " need a keep mask over their last ",
       "dimension, over queries and keys, or per example, found ", keep.sizes());
}

}  // namespace

std::optional<double> attention_truth(const at::Tensor& weights, const at::Tensor& keep) {
  require(weights.defined() && (weights.dim() == 2 || weights.dim() == 4),
          ErrorKind::InvalidArgument, "weights must have shape [N, K] or [B, H, Q, K], found ",
          weights.defined() ? concat(weights.sizes()) : "none");
  require(keep.defined(), ErrorKind::InvalidArgument, "attention_truth needs a keep mask");
  const at::Tensor mask = spread_over(keep, weights);                             // as weights
  const at::Tensor magnitude = weights.detach().to(at::kCPU, at::kDouble).abs();  // as weights
  const at::Tensor found =
      magnitude.masked_fill(mask.logical_not(), 0).sum(-1);                  // [N] or [B, H, Q]
  const at::Tensor share = (found / magnitude.sum(-1)).nan_to_num(0, 0, 0);  // [N] or [B, H, Q]
  const at::Tensor counted = mask.any(-1);                                   // [N] or [B, H, Q]
  const auto rows = counted.sum().item<int64_t>();
  if (rows == 0) return {};
  return share.masked_fill(counted.logical_not(), 0).sum().item<double>() / double(rows);
}

}  // namespace fovea
