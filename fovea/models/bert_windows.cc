#include "fovea/models/bert_windows.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// x [B, T, …] with zeros (false, for a mask) behind dimension `at`, up to `length`.
Tensor padded(const Tensor& x, int64_t at, int64_t length) {
  if (x.size(at) == length) return x;
  std::vector<int64_t> more(size_t(2 * (x.dim() - at)), 0);  // from the last dimension back
  more.back() = length - x.size(at);
  return at::constant_pad_nd(x, more);
}

/// Where the windows that hold anything lie in [B, W].
struct WindowPlan {
  int64_t rows, windows, width, length;  // B, W, window, T
  Tensor real;                           // int64 [F]: which of the B * W windows are not padding

  WindowPlan(const Tensor& keep, int64_t window)
      : rows(keep.size(0)),
        windows((keep.size(1) + window - 1) / window),
        width(window),
        length(keep.size(1)),
        real(in_windows(keep, window).any(-1).flatten().nonzero().squeeze(1)) {}

  /// [B, T, …] -> [F, window, …]
  Tensor cut(const Tensor& x) const {
    return in_windows(x, width).flatten(0, 1).index_select(0, real);
  }
  /// [F, …] -> [B, W, …]
  Tensor placed(const Tensor& frames) const {
    std::vector<int64_t> sizes = frames.sizes().vec();
    sizes[0] = rows * windows;
    const Tensor all = at::zeros(sizes, frames.options()).index_copy(0, real, frames);
    return all.unflatten(0, {rows, windows});
  }
  /// [F, window, …] -> [B, T, …]
  Tensor joined(const Tensor& frames) const {
    return placed(frames).flatten(1, 2).narrow(1, 0, length);
  }
  /// [F, H, window, window] -> [B, H, T, T]
  Tensor join_maps(const Tensor& frames) const {
    const int64_t heads = frames.size(1);
    Tensor blocks = at::zeros({rows, heads, windows, width, windows, width}, frames.options());
    blocks.diagonal(0, 2, 4).copy_(placed(frames).permute({0, 2, 3, 4, 1}));
    return blocks.view({rows, heads, windows * width, windows * width})
        .narrow(2, 0, length)
        .narrow(3, 0, length);
  }
  /// The reverse, of what lies in the blocks.
  Tensor cut_maps(const Tensor& whole) const {
    const int64_t all = windows * width;
    return padded(padded(whole, 2, all), 3, all)
        .view({rows, whole.size(1), windows, width, windows, width})
        .diagonal(0, 2, 4)
        .permute({0, 4, 1, 2, 3})
        .flatten(0, 1)
        .index_select(0, real);
  }
};

/// Of each of the B * W windows its place among those that hold anything; -1: padding alone.
std::vector<int64_t> frames_of(const WindowPlan& plan) {
  std::vector<int64_t> frames(size_t(plan.rows * plan.windows), -1);
  const Tensor real = plan.real.cpu();
  for (int64_t frame = 0; frame < real.size(0); ++frame)
    frames[size_t(real.data_ptr<int64_t>()[frame])] = frame;
  return frames;
}

/// Rows of a map in windows, from the source of the windows' maps.
class WindowSource : public WeightSource {
 public:
  WindowSource(std::shared_ptr<const WeightSource> frames, const WindowPlan& plan)
      : frames_(std::move(frames)), plan_(plan), frame_of_(frames_of(plan)) {}

  std::array<int64_t, 4> sizes() const override {
    return {plan_.rows, frames_->sizes()[1], plan_.length, plan_.length};
  }

  Tensor rows(int64_t example, int64_t head, int64_t first, int64_t count) const override {
    Tensor found = at::zeros({count, plan_.length});
    for (int64_t row = first; row < first + count;) {
      const int64_t window = row / plan_.width, begin = window * plan_.width;
      const int64_t end = std::min({begin + plan_.width, plan_.length, first + count});
      const int64_t frame = frame_of_[size_t(example * plan_.windows + window)];
      const int64_t keys = std::min(plan_.width, plan_.length - begin);
      if (frame >= 0)
        found.narrow(0, row - first, end - row)
            .narrow(1, begin, keys)
            .copy_(frames_->rows(frame, head, row - begin, end - row).narrow(1, 0, keys));
      row = end;
    }
    return found;
  }

 private:
  std::shared_ptr<const WeightSource> frames_;
  WindowPlan plan_;
  std::vector<int64_t> frame_of_;
};

/// Their queries and keys, likewise: a query sees the keys of its window.
class WindowProducts : public ProductSource {
 public:
  WindowProducts(std::shared_ptr<const ProductSource> frames, const WindowPlan& plan)
      : frames_(std::move(frames)), plan_(plan), frame_of_(frames_of(plan)) {}

  ProductRow row(int64_t example, int64_t head, int64_t query) const override {
    const int64_t window = query / plan_.width, begin = window * plan_.width;
    const int64_t frame = frame_of_[size_t(example * plan_.windows + window)];
    require(frame >= 0, ErrorKind::InvalidArgument, "query ", query + 1, " is padding");
    const Tensor kept = at::arange(std::min(plan_.width, plan_.length - begin), at::kLong);
    return spread_keys(frames_->row(frame, head, query - begin), kept, kept + begin, plan_.length);
  }

 private:
  std::shared_ptr<const ProductSource> frames_;
  WindowPlan plan_;
  std::vector<int64_t> frame_of_;
};

/// Stands between the encoder, which sees windows, and a tap, which sees whole sequences.
class WindowTap : public Tap {
 public:
  WindowTap(Tap& outer, const WindowPlan& plan) : outer_(outer), plan_(plan) {}

  bool needs_live(const std::string& name) const override { return outer_.needs_live(name); }
  bool wants_products() const override { return outer_.wants_products(); }
  void keep_products(const std::string& map, int64_t layer,
                     std::shared_ptr<const ProductSource> products) override {
    outer_.keep_products(map, layer, std::make_shared<WindowProducts>(std::move(products), plan_));
  }

  Tensor report(AttentionMap map) override {
    if (map.source) {
      map.source = std::make_shared<WindowSource>(std::move(map.source), plan_);
      return outer_.report(std::move(map));
    }
    map.weights = plan_.join_maps(map.weights);
    return plan_.cut_maps(outer_.report(std::move(map)));
  }

 private:
  Tap& outer_;
  const WindowPlan& plan_;
};

}  // namespace

Tensor in_windows(const Tensor& x, int64_t window) {
  const int64_t windows = (x.size(1) + window - 1) / window;
  return padded(x, 1, windows * window).unflatten(1, {windows, window});
}

Tensor encode_windows(const BertEncoder& encoder, const BertInput& input, int64_t window,
                      const Random* random, Tap* tap) {
  if (input.tokens.size(1) <= window) return encoder.forward(input, random, tap);
  const WindowPlan plan(input.keep, window);
  // The leaf is the whole sequence's: a token in two windows is one unit.
  const BertInput frames{plan.cut(input.tokens),
                         input.segments.defined() ? plan.cut(input.segments) : Tensor(),
                         plan.cut(input.keep), plan.cut(encoder.embed(input.tokens, tap))};
  if (!tap) return plan.joined(encoder.forward(frames, random, nullptr));
  WindowTap inner(*tap, plan);
  return plan.joined(encoder.forward(frames, random, &inner));
}

}  // namespace fovea
