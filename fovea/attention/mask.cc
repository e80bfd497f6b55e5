#include "fovea/attention/mask.h"

#include <torch/torch.h>

#include "fovea/core/error.h"

namespace fovea {

namespace {

void require_bool(const at::Tensor& keep, const char* what) {
  require(keep.defined() && keep.scalar_type() == at::kBool, ErrorKind::InvalidArgument, what,
          " needs a bool tensor (true = may be looked at), found ",
          keep.defined() ? c10::toString(keep.scalar_type()) : "nothing",
          "; compare numbers first, for example tensor != 0");
}

/// Position of key minus position of query: [1, 1, Q, K].
at::Tensor distances(int64_t queries, int64_t keys, int64_t first_query) {
  require(queries >= 0 && keys >= 0, ErrorKind::InvalidArgument, "a mask of ", queries,
          " queries and ", keys, " keys cannot be made; sizes must not be negative");
  const auto query =
      at::arange(first_query, first_query + queries, at::kLong).view({1, 1, queries, 1});
  const auto key = at::arange(keys, at::kLong).view({1, 1, 1, keys});
  return key - query;  // [1, 1, Q, K]
}

}  // namespace

KeepMask KeepMask::from_lengths(const at::Tensor& lengths, int64_t max) {
  require(lengths.defined() && lengths.dim() == 1 && !lengths.is_floating_point(),
          ErrorKind::InvalidArgument, "lengths must be integers of shape [B], found ",
          lengths.defined() ? concat(lengths.scalar_type(), " ", lengths.sizes()) : "nothing");
  const auto position = at::arange(max, lengths.options().dtype(at::kLong)).view({1, 1, 1, max});
  return KeepMask(position < lengths.to(at::kLong).view({-1, 1, 1, 1}));  // [B, 1, 1, K]
}

KeepMask KeepMask::from_keep(const at::Tensor& keep) {
  require_bool(keep, "KeepMask::from_keep");
  switch (keep.dim()) {
    case 2:
      return KeepMask(keep.unsqueeze(1).unsqueeze(1));  // [B, 1, 1, K]
    case 3:
      return KeepMask(keep.unsqueeze(1));  // [B, 1, Q, K]
    case 4:
      return KeepMask(keep);
    default:
      fail(ErrorKind::InvalidArgument,
           "KeepMask::from_keep takes [B, K], [B, Q, K] or [B, H, Q, K], found ", keep.sizes());
  }
}

KeepMask KeepMask::from_queries(const at::Tensor& keep) {
  require_bool(keep, "KeepMask::from_queries");
  require(keep.dim() == 2, ErrorKind::InvalidArgument,
          "KeepMask::from_queries takes [B, Q], found ", keep.sizes());
  return KeepMask(keep.unsqueeze(1).unsqueeze(-1));  // [B, 1, Q, 1]
}

KeepMask KeepMask::causal(int64_t queries, int64_t keys, int64_t first_query) {
  return KeepMask(distances(queries, keys, first_query) <= 0);
}

KeepMask KeepMask::window(int64_t queries, int64_t keys, int64_t half_width, int64_t first_query) {
  return KeepMask(distances(queries, keys, first_query).abs() <= half_width);
}

KeepMask KeepMask::local(const at::Tensor& centers, int64_t keys, double half_width) {
  require(centers.defined() && centers.dim() == 3, ErrorKind::InvalidArgument,
          "KeepMask::local takes centers of shape [B, H, Q], found ",
          centers.defined() ? concat(centers.sizes()) : "nothing");
  const auto fixed = centers.detach();
  const auto key = at::arange(keys, fixed.options()).view({1, 1, 1, keys});
  // "Not farther" rather than "near": a NaN center keeps its keys, and so stays visible as NaN
  // weights.
  return KeepMask(~((key - fixed.unsqueeze(-1)).abs() > half_width));  // [B, H, Q, K]
}

KeepMask KeepMask::operator&(const KeepMask& other) const {
  if (is_all()) return other;
  if (other.is_all()) return *this;
  for (int64_t dimension = 0; dimension < 4; ++dimension) {
    const int64_t left = keep_.size(dimension), right = other.keep_.size(dimension);
    require(left == right || left == 1 || right == 1, ErrorKind::InvalidArgument, "masks of shape ",
            keep_.sizes(), " and ", other.keep_.sizes(), " cannot be combined");
  }
  // A mask made without data (causal, window) is on the CPU; it follows the one that came from
  // data.
  if (keep_.device() == other.keep_.device()) return KeepMask(keep_ & other.keep_);
  const auto device = keep_.is_cpu() ? other.keep_.device() : keep_.device();
  return KeepMask(keep_.to(device) & other.keep_.to(device));
}

at::Tensor KeepMask::seeing_queries() const {
  return is_all() ? keep_ : keep_.any(-1, true);
}

at::Tensor KeepMask::seen_keys() const {
  return is_all() ? keep_ : keep_.any(-2, true);
}

KeepMask KeepMask::to(const at::Device& device) const {
  return is_all() ? *this : KeepMask(keep_.to(device));
}

at::Tensor KeepMask::expand(at::IntArrayRef sizes) const {
  if (is_all()) return keep_;
  bool fits = sizes.size() == 4;
  for (size_t dimension = 0; fits && dimension < 4; ++dimension) {
    const int64_t size = keep_.size(static_cast<int64_t>(dimension));
    fits = size == 1 || size == sizes[dimension];
  }
  require(fits, ErrorKind::InvalidArgument, "a mask of shape ", keep_.sizes(),
          " does not fit weights of shape ", sizes, " [B, H, Q, K]");
  return keep_.expand(sizes);
}

}  // namespace fovea
