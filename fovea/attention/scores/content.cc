// Content-base addressing, beta cos(s, h) = beta s.h / (|s||h| + 1e-8), Graves et al. 2014. Cosines
// lie in [-1, 1], so without beta a softmax over them can never be sharp; beta > 0 is one learned
// number, or the caller's per query (ScoreInput::sharpness).
#include <cmath>

#include "fovea/attention/score.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

struct Measured {
  at::Tensor vector;  // [..., D]
  at::Tensor norm;    // [...]
};

/// The norm of a zero vector has no derivative, and the quotient's would be 1/1e-8: a zero vector
/// gets gradient 0 instead.
Measured measure(const at::Tensor& x) {
  const auto squared = x.square().sum(-1);  // [...]
  const auto zero = squared.detach() == 0;
  const auto norm = squared.masked_fill(zero, 1).sqrt().masked_fill(zero, 0);
  return {x.masked_fill(zero.unsqueeze(-1), 0), norm};
}

class Content : public ScoreFunction {
 public:
  Content() {
    const double softplus_of_this_is_1 = std::log(std::expm1(1.0));
    raw_sharpness = register_parameter("raw_sharpness", at::full({1}, softplus_of_this_is_1));
  }

  at::Tensor score(const ScoreInput& input) const override {
    const auto query = measure(input.query), key = measure(input.keys);
    const auto products = at::matmul(query.vector, key.vector.transpose(-2, -1));  // [B, H, Q, K]
    const auto norms = query.norm.unsqueeze(-1) * key.norm.unsqueeze(-2);          // [B, H, Q, K]
    const auto beta =
        input.sharpness.defined() ? input.sharpness.unsqueeze(-1) : at::softplus(raw_sharpness);
    return beta * products / (norms + 1e-8);
  }

  at::Tensor raw_sharpness;  // [1]
};

}  // namespace

ScoreEntry content_score() {
  return {"content",
          "beta cos(s, h), beta = softplus(learned)",
          "Graves et al. 2014",
          "1",
          [](const ScoreOptions&) -> int64_t { return 1; },
          [](const ScoreOptions&, const Random&) -> ScorePointer {
            return std::make_shared<Content>();
          },
          {.needs_equal_sizes = true}};
}

}  // namespace fovea
