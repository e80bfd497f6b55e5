#include "fovea/models/choice_frames.h"

#include "fovea/base/error.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Where each token of the shared sequence has its row of a map: which frame, and which place in
/// it; -1 where there is padding alone.
struct RowPlaces {
  Tensor frame, place;  // int64 [B N]

  RowPlaces(const ChoiceFrames& frames, const Tensor& chosen) {
    const int64_t all = frames.rows * frames.length;
    frame = at::full({all}, -1, frames.real.options());
    place = at::zeros({all}, frames.real.options());
    const Tensor numbers = at::arange(frames.real.size(0), frames.real.options());  // [F]
    const Tensor row = frames.real.div(frames.choices, "floor");
    const Tensor is_chosen =
        (frames.real.remainder(frames.choices) == chosen.to(frames.real).index_select(0, row));
    for (const bool last : {false, true}) {  // the chosen ones last: shared tokens are theirs
      const Tensor own = (is_chosen == last).nonzero().squeeze(1);  // [G]
      const Tensor kept = frames.keep.index_select(0, own).flatten().nonzero().squeeze(1);
      const Tensor unit = frames.units.index_select(0, own).flatten().index_select(0, kept);
      const Tensor of = numbers.index_select(0, own).unsqueeze(1).expand({-1, frames.width});
      const Tensor at = at::arange(frames.width, numbers.options()).unsqueeze(0);
      frame.index_put_({unit}, of.flatten().index_select(0, kept));
      place.index_put_({unit}, at.expand({own.size(0), -1}).flatten().index_select(0, kept));
    }
  }
};

/// Rows of such a map, from the source of the frames' maps.
class FrameSource : public WeightSource {
 public:
  FrameSource(std::shared_ptr<const WeightSource> maps, const ChoiceFrames& frames,
              const RowPlaces& places)
      : maps_(std::move(maps)),
        rows_(frames.rows),
        length_(frames.length),
        columns_(frames.units.remainder(frames.length).cpu()),
        keep_(frames.keep.cpu()),
        frame_(to_vector<int64_t>(places.frame.cpu())),
        place_(to_vector<int64_t>(places.place.cpu())) {}

  std::array<int64_t, 4> sizes() const override {
    return {rows_, maps_->sizes()[1], length_, length_};
  }

  Tensor rows(int64_t example, int64_t head, int64_t first, int64_t count) const override {
    Tensor found = at::zeros({count, length_});
    for (int64_t row = first; row < first + count;) {
      const auto at = size_t(example * length_ + row);
      int64_t together = 1;  // neighbours in one frame
      while (row + together < first + count && frame_[at + size_t(together)] == frame_[at] &&
             place_[at + size_t(together)] == place_[at] + together)
        ++together;
      if (frame_[at] >= 0) {
        const Tensor weights = maps_->rows(frame_[at], head, place_[at], together);  // [R, T]
        const Tensor kept = keep_[frame_[at]].nonzero().squeeze(1);
        found.narrow(0, row - first, together)
            .index_copy_(1, columns_[frame_[at]].index_select(0, kept),
                         weights.index_select(1, kept).to(found.scalar_type()));
      }
      row += together;
    }
    return found;
  }

 private:
  std::shared_ptr<const WeightSource> maps_;
  int64_t rows_, length_;
  Tensor columns_, keep_;  // [F, T]
  std::vector<int64_t> frame_, place_;
};

/// Their queries and keys, likewise: a query sees the keys of its frame.
class FrameProducts : public ProductSource {
 public:
  FrameProducts(std::shared_ptr<const ProductSource> frames, const ChoiceFrames& plan,
                const RowPlaces& places)
      : frames_(std::move(frames)),
        length_(plan.length),
        columns_(plan.units.remainder(plan.length).cpu()),
        keep_(plan.keep.cpu()),
        frame_(to_vector<int64_t>(places.frame.cpu())),
        place_(to_vector<int64_t>(places.place.cpu())) {}

  ProductRow row(int64_t example, int64_t head, int64_t query) const override {
    const auto at = size_t(example * length_ + query);
    const int64_t frame = frame_[at];
    require(frame >= 0, ErrorKind::InvalidArgument, "query ", query + 1, " is padding");
    const Tensor kept = keep_[frame].nonzero().squeeze(1);
    return spread_keys(frames_->row(frame, head, place_[at]), kept,
                       columns_[frame].index_select(0, kept), length_);
  }

 private:
  std::shared_ptr<const ProductSource> frames_;
  int64_t length_;
  Tensor columns_, keep_;  // [F, T]
  std::vector<int64_t> frame_, place_;
};

class FrameTap : public Tap {
 public:
  FrameTap(Tap& outer, const ChoiceFrames& frames, const Tensor& chosen)
      : outer_(outer), frames_(frames), places_(frames, chosen) {}

  bool needs_live(const std::string& name) const override { return outer_.needs_live(name); }
  bool wants_products() const override { return outer_.wants_products(); }
  void keep_products(const std::string& map, int64_t layer,
                     std::shared_ptr<const ProductSource> products) override {
    outer_.keep_products(map, layer,
                         std::make_shared<FrameProducts>(std::move(products), frames_, places_));
  }

  Tensor report(AttentionMap map) override {
    const bool padded = (places_.frame < 0).any().item<bool>();  // behind shorter sequences
    if (padded && map.kind == MapKind::Distribution) map.kind = MapKind::Partial;
    if (map.source) {
      map.source = std::make_shared<FrameSource>(std::move(map.source), frames_, places_);
      return outer_.report(std::move(map));
    }
    const Tensor own = map.weights;  // [F, H, T, T]
    map.weights = joined(own);
    return cut(outer_.report(std::move(map)), own);
  }

 private:
  /// [F, T], in which token of its row each token of a frame looks.
  Tensor columns() const { return frames_.units.remainder(frames_.length); }

  /// [F, H, T, T] -> [B, H, N, N]
  Tensor joined(const Tensor& own) const {
    const int64_t heads = own.size(1);
    const Tensor there = (places_.frame >= 0).nonzero().squeeze(1);  // [R]
    const Tensor frame = places_.frame.index_select(0, there),
                 place = places_.place.index_select(0, there);
    const Tensor rows = own.permute({0, 2, 1, 3})
                            .flatten(0, 1)  // [F T, H, T]
                            .index_select(0, frame * frames_.width + place);
    const Tensor kept = frames_.keep.index_select(0, frame).unsqueeze(1);  // [R, 1, T]
    const Tensor column =
        columns().index_select(0, frame).unsqueeze(1).expand({-1, heads, -1});  // [R, H, T]
    const Tensor wide =
        at::zeros({there.size(0), heads, frames_.length}, own.options())
            .scatter_add(2, column, rows * kept);  // padding adds 0 to the first token
    const Tensor all =
        at::zeros({frames_.rows * frames_.length, heads, frames_.length}, own.options())
            .index_copy(0, there, wide);
    return all.view({frames_.rows, frames_.length, heads, frames_.length}).permute({0, 2, 1, 3});
  }

  /// The reverse: rows that the map shows are as it has them, the others as they were.
  Tensor cut(const Tensor& whole, const Tensor& own) const {
    const int64_t heads = own.size(1), count = own.size(0);
    const Tensor rows = whole.permute({0, 2, 1, 3}).flatten(0, 1);  // [B N, H, N]
    const Tensor column = columns()
                              .unsqueeze(1)
                              .expand({-1, frames_.width, -1})
                              .flatten(0, 1)  // [F T, T]
                              .unsqueeze(1)
                              .expand({-1, heads, -1});
    const Tensor shown = rows.index_select(0, frames_.units.flatten())
                             .gather(2, column)  // [F T, H, T]
                             .view({count, frames_.width, heads, frames_.width})
                             .permute({0, 2, 1, 3});
    const Tensor number = at::arange(count, places_.frame.options()).unsqueeze(1);  // [F, 1]
    const Tensor is_shown =
        (places_.frame.index_select(0, frames_.units.flatten()).view_as(frames_.units) == number) &
        frames_.keep;                                            // [F, T]
    const Tensor keys = frames_.keep.unsqueeze(1).unsqueeze(1);  // [F, 1, 1, T]
    return at::where(is_shown.unsqueeze(1).unsqueeze(-1), shown * keys, own);
  }

  Tap& outer_;
  const ChoiceFrames& frames_;
  RowPlaces places_;
};

}  // namespace

ChoiceFrames::ChoiceFrames(const Tensor& frames, int64_t sequence)
    : rows(frames.size(0)), choices(frames.size(1)), width(frames.size(2)), length(sequence) {
  const Tensor flat = frames.flatten(0, 1);  // [B C, T]
  real = (flat >= 0).any(-1).nonzero().squeeze(1);
  const Tensor own = flat.index_select(0, real);  // [F, T]
  keep = own >= 0;
  units = own.clamp_min(0) + real.div(choices, "floor").unsqueeze(1) * length;
}

Tensor ChoiceFrames::cut(const Tensor& x) const {
  return x.flatten(0, 1).index_select(0, units.flatten()).unflatten(0, {units.size(0), width});
}

Tensor ChoiceFrames::placed(const Tensor& x, double otherwise) const {
  return at::full({rows * choices}, otherwise, x.options())
      .index_copy(0, real, x)
      .view({rows, choices});
}

std::unique_ptr<Tap> make_frame_tap(Tap& outer, const ChoiceFrames& frames, const Tensor& chosen) {
  return std::make_unique<FrameTap>(outer, frames, chosen);
}

}  // namespace fovea
