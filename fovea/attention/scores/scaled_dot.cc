// Scaled dot score s . h / sqrt(n), n the key size, Vaswani et al. 2017. The query is scaled, not
// the larger score matrix.
#include <cmath>

#include "fovea/attention/score.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

class ScaledDot : public ScoreFunction {
 public:
  at::Tensor score(const ScoreInput& input) const override {
    const double scale = *dot_scale(input.keys.size(-1));
    return at::matmul(input.query * scale, input.keys.transpose(-2, -1));  // [B, H, Q, K]
  }
  std::optional<double> dot_scale(int64_t key_size) const override {
    return 1 / std::sqrt(static_cast<double>(key_size));
  }
};

}  // namespace

ScoreEntry scaled_dot_score() {
  return {"scaled-dot",
          "s . h / sqrt(n)",
          "Vaswani et al. 2017",
          "0",
          [](const ScoreOptions&) -> int64_t { return 0; },
          [](const ScoreOptions&, const Random&) -> ScorePointer {
            return std::make_shared<ScaledDot>();
          },
          {.needs_equal_sizes = true, .is_fused = true}};
}

}  // namespace fovea
