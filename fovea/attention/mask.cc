#include "fovea/attention/mask.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

void require_bool(const at::Tensor& keep, const char* what) {
  require(keep.defined() && keep.scalar_type() == at::kBool, ErrorKind::InvalidArgument, what,
          " needs a bool tensor (true = may be looked at), found ",
          keep.defined() ? c10::toString(keep.scalar_type()) : "nothing",
          "; compare numbers first, for example tensor != 0");
}

/// bool [1, 1, Q, K]
at::Tensor whole_band(const MaskBand& band, const at::Device& device) {
  const auto options = at::TensorOptions(device).dtype(at::kLong);
  const auto query = at::arange(band.first_query, band.first_query + band.queries, options)
                         .view({1, 1, band.queries, 1});
  const auto distance = at::arange(band.keys, options).view({1, 1, 1, band.keys}) - query;
  return (distance >= band.low) & (distance <= band.high);
}

MaskBand make_band(int64_t low, int64_t high, int64_t queries, int64_t keys, int64_t first_query) {
  require(queries >= 0 && keys >= 0, ErrorKind::InvalidArgument, "a mask of ", queries,
          " queries and ", keys, " keys cannot be made; sizes must not be negative");
  return {low, high, first_query, queries, keys};
}

/// Either, or where both are true. A mask made without data (causal, window) is on the CPU; it
/// follows the one that came from data.
at::Tensor both(const at::Tensor& left, const at::Tensor& right) {
  if (!left.defined()) return right;
  if (!right.defined()) return left;
  if (left.device() == right.device()) return left & right;
  const auto device = left.is_cpu() ? right.device() : left.device();
  return left.to(device) & right.to(device);
}

bool is_same_place(const MaskBand& left, const MaskBand& right) {
  return left.first_query == right.first_query && left.queries == right.queries &&
         left.keys == right.keys;
}

/// [b, …] -> the examples of `rows`, unless one stands for all.
at::Tensor selected(const at::Tensor& part, const at::Tensor& rows) {
  return !part.defined() || part.size(0) == 1 ? part : part.index_select(0, rows);
}

}  // namespace

KeepMask KeepMask::from_lengths(const at::Tensor& lengths, int64_t max) {
  require(lengths.defined() && lengths.dim() == 1 && !lengths.is_floating_point(),
          ErrorKind::InvalidArgument, "lengths must be integers of shape [B], found ",
          lengths.defined() ? concat(lengths.scalar_type(), " ", lengths.sizes()) : "nothing");
  const auto position = at::arange(max, lengths.options().dtype(at::kLong)).view({1, 1, 1, max});
  KeepMask mask;
  mask.device_ = lengths.device();
  mask.keys_ = position < lengths.to(at::kLong).view({-1, 1, 1, 1});  // [B, 1, 1, K]
  return mask;
}

KeepMask KeepMask::from_keep(const at::Tensor& keep) {
  require_bool(keep, "KeepMask::from_keep");
  require(keep.dim() >= 2 && keep.dim() <= 4, ErrorKind::InvalidArgument,
          "KeepMask::from_keep takes [B, K], [B, Q, K] or [B, H, Q, K], found ", keep.sizes());
  auto four = keep;
  while (four.dim() < 4) four = four.unsqueeze(1);  // [B, 1, Q or 1, K]
  KeepMask mask;
  mask.device_ = keep.device();
  const bool of_keys = four.size(1) == 1 && four.size(2) == 1;
  (of_keys ? mask.keys_ : mask.rest_) = four;
  return mask;
}

KeepMask KeepMask::from_queries(const at::Tensor& keep) {
  require_bool(keep, "KeepMask::from_queries");
  require(keep.dim() == 2, ErrorKind::InvalidArgument,
          "KeepMask::from_queries takes [B, Q], found ", keep.sizes());
  KeepMask mask;
  mask.device_ = keep.device();
  mask.queries_ = keep.unsqueeze(1).unsqueeze(-1);  // [B, 1, Q, 1]
  return mask;
}

KeepMask KeepMask::causal(int64_t queries, int64_t keys, int64_t first_query) {
  KeepMask mask;
  mask.band_ = make_band(-MaskBand::kFar, 0, queries, keys, first_query);
  return mask;
}

KeepMask KeepMask::window(int64_t queries, int64_t keys, int64_t half_width, int64_t first_query) {
  KeepMask mask;
  mask.band_ = make_band(-half_width, half_width, queries, keys, first_query);
  return mask;
}

KeepMask KeepMask::local(const at::Tensor& centers, int64_t keys, double half_width) {
  require(centers.defined() && centers.dim() == 3, ErrorKind::InvalidArgument,
          "KeepMask::local takes centers of shape [B, H, Q], found ",
          centers.defined() ? concat(centers.sizes()) : "nothing");
  const auto fixed = centers.detach();
  const auto key = at::arange(keys, fixed.options()).view({1, 1, 1, keys});
  KeepMask mask;
  mask.device_ = centers.device();
  // "Not farther" rather than "near": a NaN center keeps its keys, and so stays visible as NaN
  // weights.
  mask.rest_ = ~((key - fixed.unsqueeze(-1)).abs() > half_width);  // [B, H, Q, K]
  return mask;
}

KeepMask KeepMask::operator&(const KeepMask& other) const {
  if (is_all()) return other;
  if (other.is_all()) return *this;
  const auto left = sizes(), right = other.sizes();
  for (size_t d = 0; d < 4; ++d)
    require(left[d] == right[d] || left[d] == 1 || right[d] == 1, ErrorKind::InvalidArgument,
            "masks of shape ", at::IntArrayRef(left), " and ", at::IntArrayRef(right),
            " cannot be combined");
  KeepMask joined;
  joined.device_ = device_.is_cpu() ? other.device_ : device_;
  joined.keys_ = both(keys_, other.keys_);
  joined.queries_ = both(queries_, other.queries_);
  joined.rest_ = both(rest_, other.rest_);
  joined.band_ = band_ ? band_ : other.band_;
  if (band_ && other.band_) {
    if (is_same_place(*band_, *other.band_)) {
      joined.band_->low = std::max(band_->low, other.band_->low);
      joined.band_->high = std::min(band_->high, other.band_->high);
    } else {
      joined.rest_ = both(joined.rest_, whole_band(*other.band_, joined.device_));
    }
  }
  return joined;
}

std::array<int64_t, 4> KeepMask::sizes() const {
  std::array<int64_t, 4> sizes{1, 1, 1, 1};
  for (const auto* part : {&keys_, &queries_, &rest_})
    for (size_t d = 0; part->defined() && d < 4; ++d)
      if (const int64_t size = part->size(int64_t(d)); size != 1) sizes[d] = size;
  if (band_ && band_->queries != 1) sizes[2] = band_->queries;
  if (band_ && band_->keys != 1) sizes[3] = band_->keys;
  return sizes;
}

const at::Tensor& KeepMask::keep() const {
  if (!keep_.defined() && !is_all()) {
    keep_ = both(both(keys_, queries_), rest_);
    if (band_) keep_ = both(keep_, whole_band(*band_, device_));
  }
  return keep_;
}

at::Tensor KeepMask::seeing_queries() const {
  return is_all() ? at::Tensor() : keep().any(-1, true);
}

at::Tensor KeepMask::seen_keys() const {
  return is_all() ? at::Tensor() : keep().any(-2, true);
}

KeepMask KeepMask::to(const at::Device& device) const {
  KeepMask moved = *this;
  moved.device_ = device;
  for (auto* part : {&moved.keys_, &moved.queries_, &moved.rest_, &moved.keep_})
    if (part->defined()) *part = part->to(device);
  return moved;
}

KeepMask KeepMask::select(const at::Tensor& rows) const {
  KeepMask chosen;
  chosen.device_ = device_;
  chosen.keys_ = selected(keys_, rows);
  chosen.queries_ = selected(queries_, rows);
  chosen.rest_ = selected(rest_, rows);
  chosen.band_ = band_;
  return chosen;
}

at::Tensor KeepMask::expand(at::IntArrayRef sizes) const {
  if (is_all()) return {};
  const auto own = this->sizes();
  bool fits = sizes.size() == 4;
  for (size_t d = 0; fits && d < 4; ++d) fits = own[d] == 1 || own[d] == sizes[d];
  require(fits, ErrorKind::InvalidArgument, "a mask of shape ", at::IntArrayRef(own),
          " does not fit weights of shape ", sizes, " [B, H, Q, K]");
  return keep().expand(sizes);
}

}  // namespace fovea
