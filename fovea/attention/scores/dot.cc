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

ScoreEntry dot_score() {
  return {
      "dot",
      "s . h",
      "Luong et al. 2015",
      "0",
      [](const ScoreOptions&) -> int64_t { return 0; },
      [](const ScoreOptions&, const Random&) -> ScorePointer { return std::make_shared<Dot>(); },
      {.needs_equal_sizes = true, .is_fused = true}};
}

}  // namespace fovea
