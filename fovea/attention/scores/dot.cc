// Dot score s . h, Luong et al. 2015. Entries of unit variance give a score of variance n: see
// scaled_dot.cc.
#include "fovea/attention/score.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

class Dot : public ScoreFunction {
 public:
  at::Tensor score(const ScoreInput& input) const override {
    return at::matmul(input.query, input.keys.transpose(-2, -1));  // [B, H, Q, K]
  }
  std::optional<double> dot_scale(int64_t) const override { return 1; }
};

}  // namespace

ScorePointer make_dot(const ScoreOptions&, const Random&) {
  return std::make_shared<Dot>();
}

}  // namespace fovea
