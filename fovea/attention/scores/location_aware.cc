// Location-aware (hybrid) score, Chorowski et al. 2015: f = F * previous weights, a 1-D convolution
// that keeps the length, then v . tanh(W s + U h + L f + b). Before the first step the previous
// weights count as 0, which leaves the additive score.
#include "fovea/attention/projection.h"
#include "fovea/attention/score.h"
#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

class LocationAware : public ScoreFunction {
 public:
  LocationAware(const ScoreOptions& o, const Random& random)
      : query(register_projection(*this, "query", {o.query_size, o.hidden_size, true}, random)),
        key(register_projection(*this, "key", {o.key_size, o.hidden_size, false}, random)),
        location(register_projection(*this, "location", {o.filters, o.hidden_size, false}, random)),
        energy(register_projection(*this, "energy", {o.hidden_size, 1, false}, random)),
        filters(register_parameter(
            "filters",
            glorot_uniform(o.filters, o.kernel_width, random.split("filters")).unsqueeze(1))) {}

  at::Tensor prepare(const at::Tensor& keys) const override { return key->forward(keys); }

  at::Tensor score(const ScoreInput& input) const override {
    auto sum =
        query->forward(input.query).unsqueeze(-2) + input.keys.unsqueeze(-3);  // [B, H, Q, K, m]
    if (input.previous_weights.defined())
      sum = sum + location->forward(features(input.previous_weights));
    return energy->forward(sum.tanh()).squeeze(-1);  // [B, H, Q, K]
  }

  /// previous_weights [B, H, Q, K] -> [B, H, Q, K, f]
  at::Tensor features(const at::Tensor& previous_weights) const {
    const auto shape = previous_weights.sizes();
    const auto rows = previous_weights.reshape({-1, 1, shape[3]});                 // [B*H*Q, 1, K]
    const auto convolved = at::conv1d(rows, filters, {}, 1, filters.size(2) / 2);  // [B*H*Q, f, K]
    return convolved.transpose(1, 2).reshape(
        {shape[0], shape[1], shape[2], shape[3], filters.size(0)});
  }

  std::shared_ptr<Projection> query, key, location, energy;
  at::Tensor filters;  // [f, 1, r], a conv1d weight
};

}  // namespace

ScoreEntry location_aware_score() {
  return {"location-aware",
          "v . tanh(W s + U h + L (F * previous weights) + b)",
          "Chorowski et al. 2015",
          "m (d_q + d_k + f + 2) + f r",
          [](const ScoreOptions& o) {
            return o.hidden_size * (o.query_size + o.key_size + o.filters + 2) +
                   o.filters * o.kernel_width;
          },
          [](const ScoreOptions& options, const Random& random) -> ScorePointer {
            require(options.kernel_width % 2 == 1, ErrorKind::InvalidArgument,
                    "score 'location-aware' needs an odd kernel_width, found ",
                    options.kernel_width,
                    "; an even filter has no middle and would shift the weights");
            return std::make_shared<LocationAware>(options, random);
          },
          {.depends_on_order = true, .reads_previous_weights = true}};
}

}  // namespace fovea
