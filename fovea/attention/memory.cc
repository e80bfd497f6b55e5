#include "fovea/attention/memory.h"

#include <cmath>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Rows of x [B, H, K, D] that are not finite: bool [B, H, K], or undefined when known to be none.
/// On a CPU it costs little to look and saves every later step the work: a sum is finite only when
/// every part of it is. On a GPU looking would stall the queue, and every step would pay for what
/// it might have seen: in training, where one such number spoils all weights anyway, nobody asks.
Tensor broken_rows(const Tensor& x) {
  if (!x.is_cpu() && x.requires_grad()) return {};
  if (x.is_cpu() && std::isfinite(x.detach().sum().item<double>())) return {};
  const Tensor broken = ~x.detach().isfinite().all(-1);
  return broken.is_cpu() && !broken.any().item<bool>() ? Tensor() : broken;
}

/// The mask's part of one Memory as [B, 1 or H, 1, K].
Tensor key_mask(const Memory& memory) {
  const auto& values = memory.values;
  if (memory.mask.is_all())
    return at::ones({values.size(0), 1, 1, memory.size()}, values.options().dtype(at::kBool));
  const auto& keep = memory.mask.keep();
  require(keep.size(2) == 1, ErrorKind::InvalidArgument,
          "memories can be joined when their masks do not ",
          "depend on the query, found a mask of shape ", keep.sizes(),
          " [B, H, Q, K]; give such a mask to attend() instead");
  return keep.expand({values.size(0), keep.size(1), 1, memory.size()});
}

Tensor broken_or_false(const Memory& memory) {
  if (memory.broken.defined()) return memory.broken;
  return at::zeros({memory.values.size(0), 1, memory.size()},
                   memory.values.options().dtype(at::kBool));
}

/// Joins along K, giving both as many heads as the larger has. left [B, h, K, D], right [B, h, K',
/// D]
Tensor join_keys(Tensor left, Tensor right, int64_t dimension) {
  const int64_t heads = std::max(left.size(1), right.size(1));
  const auto spread = [heads](const Tensor& x) {
    auto sizes = x.sizes().vec();
    sizes[1] = heads;
    return x.expand(sizes);
  };
  return at::cat({spread(left), spread(right)}, dimension);
}

}  // namespace

Memory Memory::select(const Tensor& rows) const {
  Memory chosen;
  if (keys.defined()) chosen.keys = keys.index_select(0, rows);
  chosen.values = values.index_select(0, rows);
  if (broken.defined()) chosen.broken = broken.index_select(0, rows);
  chosen.mask = mask.select(rows);
  return chosen;
}

Memory Memory::followed_by(const Memory& more) const {
  require(keys.defined() == more.keys.defined() && values.size(0) == more.values.size(0),
          ErrorKind::InvalidArgument,
          "memories of different kinds cannot be joined: ", values.size(0), " and ",
          more.values.size(0), " examples, ", keys.defined() ? "with" : "without", " and ",
          more.keys.defined() ? "with" : "without", " keys");
  Memory joined;
  if (keys.defined()) joined.keys = join_keys(keys, more.keys, 2);
  joined.values = join_keys(values, more.values, 2);
  if (broken.defined() || more.broken.defined())
    joined.broken = join_keys(broken_or_false(*this), broken_or_false(more), 2);
  if (!mask.is_all() || !more.mask.is_all())
    joined.mask = KeepMask::from_keep(join_keys(key_mask(*this), key_mask(more), 3));
  return joined;
}

Memory remember(const ScoreFunction& score, const Tensor& keys, const Tensor& values,
                const KeepMask& mask) {
  const auto four_keys = with_heads(keys, "keys");
  require(four_keys.size(0) == values.size(0) && four_keys.size(2) == values.size(-2),
          ErrorKind::InvalidArgument, "keys of shape ", keys.sizes(), " and values of shape ",
          values.sizes(), " differ in the number of examples or of places");
  Memory memory = remember_values(values, mask);
  if (keys.is_same(values)) {
    memory.keys = score.prepare(memory.values);  // [B, H, K, F]
    return memory;
  }
  const auto cleaned = clean_keys(four_keys, memory.mask);
  memory.keys = score.prepare(cleaned.tensor);  // [B, H, K, F]
  memory.broken = either_broken(memory.broken, cleaned.broken);
  return memory;
}

Memory remember_values(const Tensor& values, const KeepMask& mask) {
  Memory memory;
  memory.mask = mask.to(values.device());
  const auto cleaned = clean_keys(with_heads(values, "values"), memory.mask);
  memory.values = cleaned.tensor;
  memory.broken = cleaned.broken;
  return memory;
}

Cleaned clean_keys(const Tensor& x, const KeepMask& mask) {
  const auto broken = broken_rows(x);  // [B, H, K]
  Tensor drop;                         // [b, h, K, 1]
  if (broken.defined()) drop = broken.unsqueeze(-1);
  if (!mask.is_all()) {
    auto seen = mask.seen_keys();  // [b, h, 1, K]
    if (x.size(1) == 1) seen = seen.any(1, true);
    const auto unseen = ~seen.transpose(-2, -1);   // [b, h, K, 1]
    if (!x.is_cpu() || unseen.any().item<bool>())  // looking costs nothing beside a copy of x
      drop = drop.defined() ? drop | unseen : unseen;
  }
  return {drop.defined() ? x.masked_fill(drop, 0) : x, broken};
}

Tensor clean_queries(const Tensor& x, const KeepMask& mask) {
  if (mask.is_all()) return x;
  auto seeing = mask.seeing_queries();  // [b, h, q, 1]
  if (x.size(1) == 1) seeing = seeing.any(1, true);
  return x.masked_fill(~seeing, 0);
}

Tensor with_heads(const Tensor& x, const char* what) {
  require(x.defined() && (x.dim() == 3 || x.dim() == 4), ErrorKind::InvalidArgument, what,
          " must have shape [B, N, D] or [B, H, N, D], found ",
          x.defined() ? concat(x.sizes()) : "nothing");
  return x.dim() == 4 ? x : x.unsqueeze(1);
}

Tensor either_broken(const Tensor& left, const Tensor& right) {
  if (!left.defined()) return right;
  return right.defined() ? left | right : left;
}

}  // namespace fovea
