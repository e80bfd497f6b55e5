// Root mean square normalisation (Zhang and Sennrich 2019), as T5 and Llama have it:
//   y = z / sqrt(mean(z^2) + epsilon) * weight
// through readable tensor operations, in float32 at least.
#pragma once

#include "fovea/nn/ops/norm.h"

namespace fovea {

class RmsNorm : public Norm {
 public:
  explicit RmsNorm(int64_t width, double epsilon = 1e-6);
  void initialise() override;
  at::Tensor forward(const at::Tensor& x) const override;
  AddedNorm add(const at::Tensor& residual, const at::Tensor& x, double rate, const Random* random,
                bool is_residual = false) const override;
  double epsilon() const { return epsilon_; }

  at::Tensor weight;  // [width], ones at first

 private:
  double epsilon_;
};

}  // namespace fovea
