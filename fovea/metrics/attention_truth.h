// Does the attention find what is really there? The share of weight that lies on what is known to
// matter, for data with planted truth:  mean over rows of  sum_k |w_k| keep_k / sum_k |w_k|.
// Uniform attention scores the share of informative keys.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace fovea {

/// `weights` [N, K] with `keep` [N, K] or [K]; or `weights` [B, H, Q, K] with `keep` [B, Q, K], [Q,
/// K] or [K]; keep is true where a key is informative. Rows in which nothing is informative are
/// left out (padding); a row without any weight, or with a NaN, found nothing and counts 0. Not
/// defined when no row is left.
std::optional<double> attention_truth(const at::Tensor& weights, const at::Tensor& keep);

}  // namespace fovea
