// Horizontal bars as long as the magnitude, another colour below 0: one per key, label left, value
// right, whiskers for the spread, a green band behind what is planted to matter.
#include <algorithm>
#include <cmath>

#include "fovea/base/text.h"
#include "fovea/explain/draw/block.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr double kRowHeight = 22;
constexpr double kBarHeight = 13;
constexpr double kGap = 12;
constexpr double kAxisHeight = 24;
constexpr double kMostLabelShare = 0.4;
constexpr size_t kColumnsOfALabel = 40;  // about as many characters fit into that share

class BarsBlock : public Block {
 public:
  BarsBlock(const MapView& map, const PictureOptions& options)
      : map_(map), selection_(select_bars({magnitudes(map, 0)}, options)) {
    double largest = 0, reach = 0;
    for (const size_t key : selection_.keys) {
      const double weight = std::abs(map.weight(0, key));
      if (!std::isfinite(weight)) continue;
      largest = std::max(largest, weight);
      reach = std::max(reach, weight + deviation(key));
    }
    equal_ = equal_share(map);
    scale_ = axis_scale(std::max(reach, equal_));
    const ValueFormat format(largest);
    std::vector<std::string> names;
    for (const size_t key : selection_.keys)
      names.push_back(printable_label(visible_blanks(map.key_labels[key])));
    names = distinct_starts(names, kColumnsOfALabel);
    for (size_t row = 0; row < selection_.keys.size(); ++row) {
      const size_t key = selection_.keys[row];
      labels_.push_back(fitted(names[row], kPictureWidth * kMostLabelShare, kTextSize));
      values_.push_back(format(map.weight(0, key)));
      if (!map.spread.empty() && std::isfinite(map.weight(0, key)))
        values_.back() += " ± " + format(deviation(key));
      label_width_ = std::max(label_width_, text_width(labels_.back(), kTextSize));
      value_width_ = std::max(value_width_, text_width(values_.back(), kTextSize));
    }
    if (selection_.hidden > 0) rest_ = hidden_text(selection_, "…");
    make_legend();
    height_ = (legend_.empty() ? 0 : kLegendHeight) + bars_height() + kAxisHeight +
              (rest_.empty() ? 0 : kRowHeight);
  }

  void draw(Canvas& canvas, Point origin) const override {
    double top = origin.y;
    if (!legend_.empty()) {
      draw_legend(canvas, {origin.x, top}, legend_);
      top += kLegendHeight;
    }
    const double left = origin.x + label_width_ + kGap;
    const double length = width_ - label_width_ - value_width_ - 2 * kGap;
    for (size_t row = 0; row < selection_.keys.size(); ++row)
      if (map_.is_true(0, selection_.keys[row]))
        canvas.fill({left, top + double(row) * kRowHeight + 1, length, kRowHeight - 2},
                    mix(palette::kPaper, palette::kTruth, 0.6));
    draw_grid(canvas, {left, top, length, bars_height()});
    for (size_t row = 0; row < selection_.keys.size(); ++row)
      draw_row(canvas, row, {left, top + double(row) * kRowHeight, length, kRowHeight});
    canvas.line({left, top}, {left, top + bars_height()}, palette::kAxis, 1);
    if (equal_ > 0)
      draw_equal_mark(canvas, {left + length * equal_ / scale_.end, top + bars_height()});
    if (!rest_.empty())
      canvas.text({left, top + bars_height() + kAxisHeight + 12}, rest_,
                  {kTextSize, palette::kQuietInk});
  }

 private:
  double bars_height() const { return kRowHeight * double(selection_.keys.size()); }
  double deviation(size_t key) const {
    const double value = map_.deviation(0, key);
    return std::isfinite(value) ? value : 0;
  }

  void make_legend() {
    const bool has_negative =
        std::ranges::any_of(selection_.keys, [&](size_t key) { return map_.weight(0, key) < 0; });
    if (has_negative) {
      const bool is_part = map_.kind == MapKind::Contribution && !map_.total.empty();
      legend_.push_back(
          {LegendMark::Square, palette::kWeight, is_part ? "raises the " + map_.total : "above 0"});
      legend_.push_back(
          {LegendMark::Square, palette::kNegative, is_part ? "lowers it" : "below 0"});
    }
    const bool has_truth = std::ranges::any_of(map_.truth, [](char mark) { return mark != 0; });
    if (!has_truth && map_.spread.empty() && equal_ == 0) return;
    const bool is_attention = map_.kind != MapKind::Contribution && map_.kind != MapKind::Free;
    if (!has_negative)
      legend_.push_back(
          {LegendMark::Square, palette::kWeight, is_attention ? "learned weight" : "mean"});
    if (!map_.spread.empty())
      legend_.push_back({LegendMark::Whisker, palette::kInk, "± one deviation over the data"});
    if (equal_ > 0) legend_.push_back({LegendMark::Equal, palette::kInk, equal_text(equal_)});
    if (has_truth) legend_.push_back({LegendMark::Square, palette::kTruth, "known to matter"});
  }

  void draw_grid(Canvas& canvas, const Rectangle& area) const {
    const int ticks = int(std::lround(scale_.end / scale_.step));
    for (int tick = 0; tick <= ticks; ++tick) {
      const double value = tick * scale_.step;
      const double x = area.x + area.width * value / scale_.end;
      canvas.line({x, area.y}, {x, area.y + area.height + 3}, palette::kGrid, 1);
      canvas.text({x, area.y + area.height + 15}, format_number(value),
                  {kSmallTextSize, palette::kQuietInk, Anchor::Middle});
    }
  }

  void draw_row(Canvas& canvas, size_t row, const Rectangle& area) const {
    const size_t key = selection_.keys[row];
    const double weight = map_.weight(0, key);
    const double middle = area.y + area.height / 2;
    const double baseline = middle + 4.2;
    canvas.text({area.x - kGap, baseline}, labels_[row], {kTextSize, palette::kInk, Anchor::End});
    const bool is_number = std::isfinite(weight);
    canvas.text({area.x + area.width + kGap + value_width_, baseline}, values_[row],
                {kTextSize, is_number ? palette::kInk : palette::kQuietInk, Anchor::End});
    if (!is_number) return;
    auto place = [&](double value) {
      return area.x + area.width * std::clamp(value / scale_.end, 0.0, 1.0);
    };
    const double magnitude = std::abs(weight);
    canvas.fill({area.x, middle - kBarHeight / 2, place(magnitude) - area.x, kBarHeight},
                weight < 0 ? palette::kNegative : palette::kWeight);
    if (const double spread = deviation(key); spread > 0)
      canvas.whisker({place(magnitude - spread), middle}, {place(magnitude + spread), middle}, 3.5,
                     palette::kInk, 1.2);
  }

  const MapView& map_;
  BarSelection selection_;
  AxisScale scale_;
  double equal_ = 0;
  std::vector<std::string> labels_, values_;
  std::vector<LegendItem> legend_;
  std::string rest_;
  double label_width_ = 0, value_width_ = 0;
};

}  // namespace

std::unique_ptr<Block> bars_block(const MapView& map, const PictureOptions& options) {
  if (map.weights.empty()) return empty_block();
  return std::make_unique<BarsBlock>(map, options);
}

}  // namespace fovea
