#include "fovea/tensor/principal_components.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Eigenvalues and -vectors of a symmetric matrix, the `k` largest first: [k], [n, k].
std::pair<Tensor, Tensor> largest_eigenvectors(const Tensor& symmetric, int64_t k) {
  const auto [values, vectors] = torch::linalg_eigh(symmetric, "L");  // rising
  return {values.flip(0).narrow(0, 0, k).clamp_min(0), vectors.flip(1).narrow(1, 0, k)};
}

}  // namespace

PrincipalComponents principal_components(const Tensor& points, int64_t k) {
  torch::NoGradGuard no_gradients;
  require(points.dim() == 2 && points.numel() > 0, ErrorKind::InvalidArgument,
          "principal components need points [N, D], found ", points.sizes());
  const Tensor numbers = points.detach().to(at::kCPU, at::kDouble);
  require(numbers.isfinite().all().item<bool>(), ErrorKind::InvalidArgument,
          "principal components need finite numbers, found NaN or infinity");
  const int64_t count = numbers.size(0), width = numbers.size(1);
  const Tensor centred = numbers - numbers.mean(0);  // [N, D]
  const double all = centred.square().sum().item<double>();
  const int64_t there = std::min({k, count, width});
  Tensor values, directions;  // [there], [there, D]
  if (width <= count) {
    const auto [largest, vectors] = largest_eigenvectors(centred.t().mm(centred), there);
    values = largest, directions = vectors.t();
  } else {
    const auto [largest, vectors] = largest_eigenvectors(centred.mm(centred.t()), there);
    values = largest;
    const Tensor long_ones = vectors.t().mm(centred);  // [there, D]
    directions = long_ones / long_ones.norm(2, 1, true).clamp_min(1e-300);
  }
  const Tensor is_there = (values > 1e-12 * std::max(all, 1e-300)).unsqueeze(1);
  directions = at::where(is_there, directions, at::zeros_like(directions));
  const Tensor at_largest = directions.gather(1, directions.abs().argmax(1, true));  // [there, 1]
  directions = directions * at::where(at_largest < 0, -1.0, 1.0).to(at::kDouble);
  if (there < k)
    directions = torch::cat({directions, at::zeros({k - there, width}, directions.options())});
  PrincipalComponents found{centred.mm(directions.t()), directions, {}};
  for (int64_t i = 0; i < k; ++i)
    found.explained.push_back(i < there && all > 0 ? values[i].item<double>() / all : 0);
  return found;
}

}  // namespace fovea
