// Location-base score (W s)_j, Luong et al. 2015: it sees the query and the key's place, never the
// key, and so needs a fixed maximum length. Not Chorowski's location-aware score, which reads the
// previous weights.
#include "fovea/attention/projection.h"
#include "fovea/attention/score.h"
#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

class LocationBase : public ScoreFunction {
 public:
  LocationBase(const ScoreOptions& o, const Random& random)
      : weight(register_parameter(
            "weight", glorot_uniform(o.maximum_length, o.query_size, random.split("weight")))) {}

  at::Tensor score(const ScoreInput& input) const override {
    const int64_t keys = input.keys.size(2);
    require(keys <= weight.size(0), ErrorKind::InvalidArgument,
            "score 'location-base' was made for at most ", weight.size(0), " keys and was given ",
            keys, "; raise model.maximum_length, or choose a score that has no fixed length");
    return at::matmul(input.query, weight.narrow(0, 0, keys).t());  // [B, H, Q, K]
  }

  at::Tensor weight;  // [S, Dq]
};

}  // namespace

ScoreEntry location_base_score() {
  return {"location-base",
          "(W s)_j, the key's place only",
          "Luong et al. 2015",
          "S d_q",
          [](const ScoreOptions& o) { return o.maximum_length * o.query_size; },
          [](const ScoreOptions& options, const Random& random) -> ScorePointer {
            return std::make_shared<LocationBase>(options, random);
          },
          {.depends_on_order = true}};
}

}  // namespace fovea
