#include "fovea/attention/attend.h"

#include <limits>

#include "fovea/attention/fused.h"
#include "fovea/attention/products.h"
#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void check(const AttendInput& in) {
  require(in.memory.values.defined(), ErrorKind::InvalidArgument,
          "attend() was given an empty memory; make one with remember()");
  require((in.score != nullptr) != in.scores.defined(), ErrorKind::InvalidArgument,
          "attend() needs either a score function or scores, found ",
          in.score ? "both" : "neither");
  require(!in.score || in.query.defined(), ErrorKind::InvalidArgument,
          "attend() with a score function needs a query");
  require(in.scores.defined() || in.memory.keys.defined(), ErrorKind::InvalidArgument,
          "attend() with a score function needs a memory with keys; make it with remember()");
  require(!in.scores.defined() || in.scores.dim() == 4, ErrorKind::InvalidArgument,
          "scores must have shape [B, H, Q, K], found ",
          in.scores.defined() ? in.scores.sizes() : at::IntArrayRef());
  require(in.dropout == 0 || in.random.has_value(), ErrorKind::InvalidArgument,
          "attention dropout of ", in.dropout, " needs random numbers; set AttendInput::random");
}

/// Previous weights with 0 where the memory may not be looked at, whatever the caller put there.
Tensor clean_previous(const AttendInput& in) {
  if (!in.previous_weights.defined() || in.memory.mask.is_all()) return in.previous_weights;
  return in.previous_weights.masked_fill(~in.memory.mask.keep(), 0);
}

/// Queries that may look at something that is not finite: bool [B, H, Q, 1], or undefined when
/// there can be none.
Tensor poisoned_queries(const Memory& memory, const KeepMask& mask) {
  if (!memory.broken.defined()) return {};
  const auto broken = memory.broken.unsqueeze(-2);  // [B, H, 1, K]
  return (mask.is_all() ? broken : broken & mask.keep()).any(-1, true);
}

MapKind kind_of(const AttendInput& in, const Aligned& aligned, const Tensor& fully_masked) {
  const MapKind kind = find_normaliser(in.normaliser.name).kind;
  if (kind != MapKind::Distribution) return kind;
  const bool all_see = !fully_masked.defined() || !fully_masked.any().item<bool>();
  return aligned.factor.defined() || !all_see ? MapKind::Partial : MapKind::Distribution;
}

/// [B, 1 or H', K, D] with each head as often as queries share it: [B, 1 or H, K, D].
Tensor spread_heads(const Tensor& x, int64_t heads) {
  const int64_t own = x.size(1);
  if (own == 1 || own == heads) return x;
  require(heads % own == 0, ErrorKind::InvalidArgument, heads, " heads cannot share ", own,
          " heads of keys; the one must divide the other");
  return x.repeat_interleave(heads / own, 1);
}

/// -slope |position of the query - position of the key|: [1, H, Q, K].
Tensor distance_bias(const AttendInput& in, int64_t queries, int64_t keys) {
  const auto position = at::arange(in.first_position, in.first_position + queries,
                                   in.slopes.options());                                // [Q]
  const auto distance = position.unsqueeze(1) - at::arange(keys, in.slopes.options());  // [Q, K]
  return -in.slopes.view({1, -1, 1, 1}) * distance.abs();
}

Tensor report(const AttendInput& in, Tensor weights, MapKind kind, Tap& tap) {
  const auto replaced = tap.report(labelled_map(in.map, weights, kind));  // [B, H, Q, K]
  require(replaced.sizes() == weights.sizes(), ErrorKind::InvalidArgument,
          "the weights put in place of map '", in.map.name, "' have shape ", replaced.sizes(),
          ", expected ", weights.sizes());
  return replaced;
}

/// weights [B, H, Q, K] with the Gaussian of local-p on them, masked again because a NaN query
/// makes the Gaussian NaN.
Tensor with_factor(const Tensor& weights, const Tensor& factor, const KeepMask& mask) {
  if (!factor.defined()) return weights;
  const auto product = weights * factor;
  return mask.is_all() ? product : product.masked_fill(~mask.keep(), 0);
}

/// weights [B, H, Q, K], values [B, H or 1, K, Dv] -> [B, H, Q, Dv]
Tensor summarise(const AttendInput& in, const Tensor& values, const Tensor& weights,
                 const Tensor& poisoned) {
  auto used = poisoned.defined() ? weights.masked_fill(poisoned, 0) : weights;
  if (in.dropout > 0) used = dropout(used, in.dropout, in.random->split("dropout"));
  const auto context = at::matmul(used, values);
  return poisoned.defined() ? context.masked_fill(poisoned, kNaN) : context;
}

}  // namespace

AttentionMap labelled_map(const MapLabel& label, const Tensor& weights, MapKind kind) {
  AttentionMap map;
  map.name = label.name;
  map.query_axis = label.query_axis;
  map.key_axis = label.key_axis;
  map.kind = kind;
  map.weights = weights;
  map.layer = label.layer;
  return map;
}

Attended attend(const AttendInput& in, Tap* tap) {
  check(in);
  if (can_fuse(in, tap)) return attend_fused(in, tap);
  Memory memory = in.memory;
  const auto device = memory.values.device();
  KeepMask mask = memory.mask & in.mask.to(device);
  Tensor query;  // [B, H, Q, Dq]
  if (in.query.defined()) query = clean_queries(with_heads(in.query, "the query"), mask);

  const auto previous = clean_previous(in);
  Aligned aligned;
  if (in.alignment) {
    const int64_t queries = query.defined() ? query.size(2) : in.scores.size(2);
    aligned =
        in.alignment->align({query, queries, mask, memory.size(), in.first_position, previous});
    mask = mask & aligned.window.to(device);
    if (query.defined()) query = clean_queries(query, mask);
  }
  const int64_t heads = query.defined() ? query.size(1) : in.scores.size(1);
  if (memory.keys.defined()) memory.keys = spread_heads(memory.keys, heads);
  memory.values = spread_heads(memory.values, heads);
  if (memory.broken.defined())
    memory.broken = spread_heads(memory.broken.unsqueeze(-1), heads).squeeze(-1);

  auto scores =
      in.score ? in.score->score({query, memory.keys, previous, in.sharpness}) : in.scores;
  if (in.bias.defined()) scores = scores + in.bias.to(scores.dtype());
  if (in.slopes.defined())
    scores = scores + distance_bias(in, scores.size(2), scores.size(3)).to(scores.dtype());
  require(scores.size(-1) == memory.size(), ErrorKind::InvalidArgument, "scores of shape ",
          scores.sizes(), " do not fit a memory of ", memory.size(), " keys");
  std::optional<Random> sampling;
  if (in.random) sampling = in.random->split("sample");
  const auto normalised = normalise(in.normaliser, {scores, mask, sampling, in.chosen});

  auto weights = with_factor(normalised.weights, aligned.factor, mask);  // [B, H, Q, K]
  const auto poisoned = poisoned_queries(memory, mask);
  if (poisoned.defined())
    weights = weights.masked_fill(mask.is_all() ? poisoned : poisoned & mask.keep(), kNaN);
  const auto fully_masked = mask.is_all() ? Tensor() : ~mask.seeing_queries();  // [b, h, q, 1]
  if (tap) {
    keep_products(in, mask, aligned.factor, *tap);
    weights = report(in, weights, kind_of(in, aligned, fully_masked), *tap);
  }

  auto context = summarise(in, memory.values, weights, poisoned);  // [B, H, Q, Dv]
  const bool headless = in.query.defined() && in.query.dim() == 3 && context.size(1) == 1;
  if (headless) context = context.squeeze(1);  // [B, Q, Dv]
  return {context, weights,     normalised.log_probability, normalised.chosen, aligned.center,
          mask,    fully_masked};
}

}  // namespace fovea
