#include "fovea/attention/products.h"

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Index i of a dimension, or 0 where all share one.
Tensor at_or_first(const Tensor& x, int64_t i) {
  return x[x.size(0) == 1 ? 0 : i];
}

class KeptProducts : public ProductSource {
 public:
  KeptProducts(const AttendInput& in, const KeepMask& mask, const Tensor& factor)
      : query_(with_heads(in.query, "the query").detach()),
        keys_(in.memory.keys.detach()),
        scale_(*in.score->dot_scale(in.memory.keys.size(-1))),
        mask_(mask),
        normaliser_(in.normaliser),
        first_position_(in.first_position) {
    if (in.bias.defined()) bias_ = in.bias.detach();
    if (in.slopes.defined()) slopes_ = in.slopes.detach();
    if (factor.defined()) factor_ = factor.detach();
  }

  ProductRow row(int64_t example, int64_t head, int64_t query) const override {
    torch::NoGradGuard no_gradients;
    const auto numbers = [](const Tensor& x) { return x.to(at::kCPU, at::kDouble); };
    const auto of_row = [&](const Tensor& x) {  // [b, h, q, K] -> [K]
      return at_or_first(at_or_first(at_or_first(x, example), head), query);
    };
    ProductRow row;
    row.query = numbers(query_[example][head][query]);                            // [D]
    row.keys = numbers(keys_[example][head / (query_.size(1) / keys_.size(1))]);  // [K, D]
    row.scale = scale_;
    row.normaliser = normaliser_.name;
    const int64_t count = row.keys.size(0);
    row.scores = row.keys.mv(row.query) * scale_;  // [K]
    if (bias_.defined()) row.terms.push_back({"position bias", numbers(of_row(bias_))});
    if (slopes_.defined()) {
      const Tensor distance =
          at::arange(count, at::kDouble) - double(first_position_ + query);  // [K]
      row.terms.push_back({"distance", -numbers(slopes_)[head] * distance.abs()});
    }
    for (const ScoreTerm& term : row.terms) row.scores = row.scores + term.values;
    row.keep = mask_.is_all() ? at::ones({count}, at::kBool)
                              : of_row(mask_.keep()).to(at::kCPU).expand({count});
    NormaliseInput whole;
    whole.scores = row.scores.view({1, 1, 1, count});
    whole.mask = KeepMask::from_keep(row.keep.view({1, 1, count}));
    row.weights = normalise(normaliser_, whole).weights.view(-1);  // [K]
    if (factor_.defined()) {
      row.factor = numbers(of_row(factor_));
      row.weights = (row.weights * row.factor).masked_fill(~row.keep, 0);
    }
    return row;
  }

 private:
  Tensor query_;  // [B, H, Q, D]
  Tensor keys_;   // [B, G, K, D]
  double scale_;
  KeepMask mask_;
  NormaliserOptions normaliser_;
  int64_t first_position_;
  Tensor bias_, slopes_, factor_;
};

}  // namespace

void keep_products(const AttendInput& in, const KeepMask& mask, const Tensor& factor, Tap& tap) {
  const Memory& memory = in.memory;
  if (!tap.wants_products() || !in.score || !memory.keys.defined() || memory.broken.defined())
    return;
  if (!in.score->dot_scale(memory.keys.size(-1)) || in.normaliser.traits().draws) return;
  tap.keep_products(in.map.name, in.map.layer, std::make_shared<KeptProducts>(in, mask, factor));
}

}  // namespace fovea
