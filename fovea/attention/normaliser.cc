#include "fovea/attention/normaliser.h"

#include <algorithm>
#include <limits>

#include "fovea/attention/mechanism_table.h"
#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Scores with -inf where masked, and 0 throughout a row without keys: the softmax of such a row is
/// finite, and masking its result afterwards stops its gradient. keep [B, H, Q, K] may be
/// undefined.
Tensor filled(const Tensor& scores, const Tensor& keep) {
  if (!keep.defined()) return scores;
  return scores.masked_fill(~keep, -kInfinity).masked_fill(~keep.any(-1, true), 0);
}

Tensor masked(const Tensor& weights, const Tensor& keep) {
  return keep.defined() ? weights.masked_fill(~keep, 0) : weights;
}

Tensor softmax_of(const Tensor& scores, const Tensor& keep) {
  return masked(at::softmax(filled(scores, keep), -1), keep);
}

/// Threshold tau with sum max(z - tau, 0) = 1 over the keys; its support is found without gradient,
/// tau then has the exact one.
Tensor sparsemax_of(const Tensor& scores, const Tensor& keep) {
  const auto visible = filled(scores, keep);
  // Shifting a row changes nothing. With the largest at 0, tau >= -1, so whatever is below -1 has
  // weight 0.
  const auto z = (visible - visible.detach().amax(-1, true)).clamp_min(-2);
  const auto sorted = std::get<0>(z.detach().sort(-1, true));
  const auto rank = at::arange(1, z.size(-1) + 1, z.options());
  const auto in_support = 1 + rank * sorted > sorted.cumsum(-1);  // [B, H, Q, K]
  const auto count = in_support.sum(-1, true).clamp_min(1);       // [B, H, Q, 1]
  const auto support =
      ~(z.detach() < sorted.gather(-1, count - 1));  // a NaN row keeps all of itself
  // Ties at the edge of the support enter or leave it together, so the count is taken again.
  const auto size = support.sum(-1, true).to(z.dtype());
  const auto tau = (z.masked_fill(~support, 0).sum(-1, true) - 1) / size;
  return masked((z - tau).masked_fill(~support, 0), keep);
}

/// Inverse of the cumulative distribution at one uniform number per row, in float64. probabilities
/// [B, H, Q, K] -> [B, H, Q]
Tensor draw(const Tensor& probabilities, const Random& random) {
  const auto p = probabilities.detach().to(at::kDouble);
  const auto cumulative = p.cumsum(-1);
  const auto uniform =
      random.uniform_tensor({p.size(0), p.size(1), p.size(2), 1}, 0, 1, p.options());
  const auto threshold = uniform * cumulative.narrow(-1, p.size(-1) - 1, 1);  // [B, H, Q, 1]
  const auto index = (cumulative <= threshold).sum(-1);                       // [B, H, Q]
  // Rounding may put the threshold on the total: the last key that has any probability is then the
  // one.
  const auto place = at::arange(p.size(-1), p.options().dtype(at::kLong));
  return at::minimum(index, (place * (p > 0)).amax(-1));
}

/// chosen [B, H, Q] -> [B, H, Q, K]
Tensor one_hot(const Tensor& chosen, const Tensor& like, const Tensor& keep) {
  return masked(at::zeros_like(like).scatter(-1, chosen.unsqueeze(-1), 1), keep);
}

void check_chosen(const Tensor& chosen, const Tensor& scores, const Tensor& keep) {
  require(chosen.sizes() == scores.sizes().slice(0, 3) && chosen.scalar_type() == at::kLong,
          ErrorKind::InvalidArgument, "chosen keys must be int64 of shape ",
          scores.sizes().slice(0, 3), " [B, H, Q], found ", chosen.scalar_type(), " ",
          chosen.sizes());
  require(((chosen >= 0) & (chosen < scores.size(-1))).all().item<bool>(),
          ErrorKind::InvalidArgument, "a chosen key lies outside 0 ... ", scores.size(-1) - 1);
  if (!keep.defined()) return;
  const auto visible = keep.gather(-1, chosen.unsqueeze(-1)) | ~keep.any(-1, true);
  require(visible.all().item<bool>(), ErrorKind::InvalidArgument,
          "a chosen key is masked; were the choices made for another input?");
}

Normalised softmax(const NormaliserOptions&, const NormaliseInput& in) {
  return {softmax_of(in.scores, in.mask.expand(in.scores.sizes())), {}, {}};
}

Normalised smoothing(const NormaliserOptions&, const NormaliseInput& in) {
  return {softmax_of(at::log_sigmoid(in.scores), in.mask.expand(in.scores.sizes())), {}, {}};
}

Normalised temperature(const NormaliserOptions& options, const NormaliseInput& in) {
  return {softmax_of(in.scores / options.temperature, in.mask.expand(in.scores.sizes())), {}, {}};
}

Normalised top_k(const NormaliserOptions& options, const NormaliseInput& in) {
  const auto keep = in.mask.expand(in.scores.sizes());
  const int64_t count = std::min(options.top_k, in.scores.size(-1));
  // A stable order makes the first of equal scores win, on every device.
  const auto order = std::get<1>(at::sort(filled(in.scores.detach(), keep), true, -1, true));
  const auto top = at::zeros(in.scores.sizes(), in.scores.options().dtype(at::kBool))
                       .scatter(-1, order.narrow(-1, 0, count), true);  // [B, H, Q, K]
  return {softmax_of(in.scores, keep.defined() ? keep & top : top), {}, {}};
}

Normalised sparsemax(const NormaliserOptions&, const NormaliseInput& in) {
  return {sparsemax_of(in.scores, in.mask.expand(in.scores.sizes())), {}, {}};
}

Normalised hard(const NormaliserOptions&, const NormaliseInput& in) {
  const auto keep = in.mask.expand(in.scores.sizes());
  const auto logs = at::log_softmax(filled(in.scores, keep), -1);
  Normalised result;
  if (in.chosen.defined()) {
    check_chosen(in.chosen, in.scores, keep);
    result.chosen = in.chosen;
  } else {
    const auto probabilities = masked(logs.detach().exp(), keep);
    result.chosen = in.random ? draw(probabilities, *in.random) : probabilities.argmax(-1);
  }
  // A draw from NaN would be a key like any other; the row says NaN instead.
  const auto lost = masked(at::zeros_like(logs).masked_fill(logs.isnan(), kUndefined), keep);
  result.weights = one_hot(result.chosen, in.scores, keep) + lost;
  result.log_probability = logs.gather(-1, result.chosen.unsqueeze(-1)).squeeze(-1);  // [B, H, Q]
  if (keep.defined()) result.log_probability = result.log_probability.masked_fill(~keep.any(-1), 0);
  return result;
}

Normalised gumbel(const NormaliserOptions& options, const NormaliseInput& in) {
  const auto keep = in.mask.expand(in.scores.sizes());
  auto scores = in.scores;
  if (in.random && !in.chosen.defined()) {
    const auto uniform =
        in.random->uniform_tensor(scores.sizes(), 0, 1, scores.options().dtype(at::kDouble));
    const auto noise = -(-uniform.clamp_min(1e-300).log()).log();
    scores = scores + noise.to(scores.dtype());
  }
  const auto soft = softmax_of(scores / options.temperature, keep);
  if (in.chosen.defined()) check_chosen(in.chosen, in.scores, keep);
  const auto chosen = in.chosen.defined() ? in.chosen : soft.detach().argmax(-1);
  // soft - soft.detach() is exactly 0 forward and carries the soft gradient backward.
  return {one_hot(chosen, soft, keep) + (soft - soft.detach()), chosen, {}};
}

Normalised gate(const NormaliserOptions&, const NormaliseInput& in) {
  return {masked(at::sigmoid(in.scores), in.mask.expand(in.scores.sizes())), {}, {}};
}

const std::vector<NormaliserEntry>& normaliser_rows() {
  static const std::vector<NormaliserEntry> table = {
      {"softmax",
       "exp(e_j) / sum exp(e)",
       "Bahdanau et al. 2015",
       MapKind::Distribution,
       softmax,
       {.is_fused = true}},
      {"smoothing", "sig(e_j) / sum sig(e)", "Chorowski et al. 2015", MapKind::Distribution,
       smoothing},
      {"temperature", "softmax(e / temperature)", "Chorowski et al. 2015", MapKind::Distribution,
       temperature},
      {"top-k", "softmax over the k largest", "Chorowski et al. 2015", MapKind::Distribution,
       top_k},
      {"sparsemax", "nearest point of the simplex", "Martins and Astudillo 2016",
       MapKind::Distribution, sparsemax},
      {"hard",
       "one key ~ softmax(e)",
       "Xu et al. 2015",
       MapKind::Distribution,
       hard,
       {.is_differentiable = false, .draws = true}},
      {"gumbel",
       "one key, argmax((e + g) / temperature), soft gradient",
       "Jang et al. 2017",
       MapKind::Distribution,
       gumbel,
       {.draws = true}},
      {"gate", "sig(e_j)", "Seo et al. 2017", MapKind::Gate, gate},
  };
  return table;
}

}  // namespace

void NormaliserOptions::describe(OptionList& list) {
  list.add("normaliser", name, "how scores become weights").choices(normaliser_names());
  list.add("temperature", temperature, "temperature, gumbel: below 1 sharpens").above(0);
  list.add("top_k", top_k, "top-k: keys that stay").at_least(1);
}

const NormaliserTraits& NormaliserOptions::traits() const {
  return find_normaliser(name).traits;
}

std::span<const NormaliserEntry> normaliser_table() {
  return normaliser_rows();
}

std::vector<std::string> normaliser_names() {
  return row_names(normaliser_rows());
}

const NormaliserEntry& find_normaliser(const std::string& name) {
  return find_row(normaliser_rows(), "normaliser", name);
}

Normalised normalise(const NormaliserOptions& options, const NormaliseInput& input) {
  require(options.temperature > 0, ErrorKind::InvalidArgument,
          "the temperature must be above 0, found ", options.temperature);
  require(options.top_k >= 1, ErrorKind::InvalidArgument, "top_k must be at least 1, found ",
          options.top_k);
  require(input.scores.dim() == 4, ErrorKind::InvalidArgument,
          "scores must have shape [B, H, Q, K], found ", input.scores.sizes());
  if (input.scores.size(-1) == 0) return {input.scores, {}, {}};
  return find_normaliser(options.name)
      .apply(options,
             {input.scores, input.mask.to(input.scores.device()), input.random, input.chosen});
}

at::Tensor masked_softmax(const at::Tensor& scores, const KeepMask& mask) {
  return softmax_of(scores, mask.to(scores.device()).expand(scores.sizes()));
}

}  // namespace fovea
