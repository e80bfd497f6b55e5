// __Name__ score s . h / n: the mean of the products.
#include "fovea/attention/score.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

class __Name__ : public ScoreFunction {
 public:
  at::Tensor score(const ScoreInput& input) const override {
    return at::matmul(input.query, input.keys.transpose(-2, -1)) /
           double(input.query.size(-1));  // [B, H, Q, K]
  }
};

}  // namespace

ScoreEntry __name___score() {
  return {"__na-me__",
          "s . h / n",
          "",
          "0",
          [](const ScoreOptions&) -> int64_t { return 0; },
          [](const ScoreOptions&, const Random&) -> ScorePointer {
            return std::make_shared<__Name__>();
          },
          {.needs_equal_sizes = true}};
}

}  // namespace fovea
