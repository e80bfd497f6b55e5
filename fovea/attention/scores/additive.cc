// Additive score v . tanh(W s + U h (+ b)), Bahdanau et al. 2015; the same as v . tanh([W U] [s ;
// h]), Luong's concat. U h_j is prepared once per sequence.
#include "fovea/attention/projection.h"
#include "fovea/attention/score.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

class Additive : public ScoreFunction {
 public:
  Additive(const ScoreOptions& o, const Random& random)
      : query(register_projection(*this, "query", {o.query_size, o.hidden_size, o.bias}, random)),
        key(register_projection(*this, "key", {o.key_size, o.hidden_size, false}, random)),
        energy(register_projection(*this, "energy", {o.hidden_size, 1, false}, random)) {}

  at::Tensor prepare(const at::Tensor& keys) const override { return key->forward(keys); }

  at::Tensor score(const ScoreInput& input) const override {
    const auto from_query = query->forward(input.query).unsqueeze(-2);   // [B, H, Q, 1, m]
    const auto hidden = (from_query + input.keys.unsqueeze(-3)).tanh();  // [B, H, Q, K, m]
    return energy->forward(hidden).squeeze(-1);                          // [B, H, Q, K]
  }

  std::optional<AdditiveParts> additive_parts() const override {
    return AdditiveParts{query->weight, query->bias, energy->weight.flatten()};
  }

  std::shared_ptr<Projection> query, key, energy;
};

}  // namespace

ScoreEntry additive_score() {
  return {"additive",
          "v . tanh(W s + U h)",
          "Bahdanau et al. 2015; Luong et al. 2015 call it concat",
          "m (d_q + d_k) + m",
          [](const ScoreOptions& o) {
            return o.hidden_size * (o.query_size + o.key_size + 1 + (o.bias ? 1 : 0));
          },
          [](const ScoreOptions& options, const Random& random) -> ScorePointer {
            return std::make_shared<Additive>(options, random);
          },
          {.is_fused = true}};
}

}  // namespace fovea
