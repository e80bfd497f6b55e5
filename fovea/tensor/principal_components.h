// Principal component analysis: the directions in which points differ most (Pearson 1901).
//   C = (X - mean)^T (X - mean) / (N - 1) = V diag(lambda) V^T, lambda falling
//   coordinates = (X - mean) V_k,  explained share of component i = lambda_i / sum lambda
// In double precision, by the eigenvectors of whichever of C and (X - mean)(X - mean)^T is smaller.
// The largest number of each direction is positive, so that the same points give the same picture.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace fovea {

struct PrincipalComponents {
  at::Tensor coordinates;         // double [N, k]
  at::Tensor directions;          // double [k, D], each of length 1; 0 where there is no variance
  std::vector<double> explained;  // k shares of the variance
};

/// points [N, D]. InvalidArgument for none, and for numbers that are not finite.
PrincipalComponents principal_components(const at::Tensor& points, int64_t k);

}  // namespace fovea
