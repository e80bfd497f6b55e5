// General score s . (W h), Luong et al. 2015; the two sizes may differ. W h_j is prepared once per
// sequence.
#include "fovea/attention/projection.h"
#include "fovea/attention/score.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

class General : public ScoreFunction {
 public:
  General(const ScoreOptions& o, const Random& random)
      : weight(register_parameter(
            "weight", glorot_uniform(o.query_size, o.key_size, random.split("weight")))) {}

  at::Tensor prepare(const at::Tensor& keys) const override {
    return at::matmul(keys, weight.t());  // [B, H, K, Dq]
  }

  at::Tensor score(const ScoreInput& input) const override {
    return at::matmul(input.query, input.keys.transpose(-2, -1));  // [B, H, Q, K]
  }

  std::optional<double> dot_scale(int64_t) const override { return 1; }

  at::Tensor weight;  // [Dq, Dk]
};

}  // namespace

ScoreEntry general_score() {
  return {"general",
          "s . (W h)",
          "Luong et al. 2015",
          "d_q d_k",
          [](const ScoreOptions& o) { return o.query_size * o.key_size; },
          [](const ScoreOptions& options, const Random& random) -> ScorePointer {
            return std::make_shared<General>(options, random);
          },
          {.is_fused = true}};
}

}  // namespace fovea
