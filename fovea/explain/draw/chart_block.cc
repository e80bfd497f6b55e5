// The drawing of a line chart.
#include <algorithm>
#include <cmath>

#include "fovea/base/text.h"
#include "fovea/explain/draw/block.h"
#include "fovea/explain/draw/chart.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr double kPlotHeight = 280;
constexpr double kGap = 8;
constexpr double kMostTickLabel = 90;
constexpr double kSampleLength = 30;  // of a line in the legend
constexpr double kMarkerRadius = 4.2;
constexpr double kLineWidth = 1.8;
constexpr double kCap = 3.5;
constexpr double kDash = 6, kPause = 3.5;
constexpr double kMostShift = 9;  // between the points of one bucket
constexpr const char* kCountsLabel = "examples";

enum class Marker { Disc, HollowSquare, Triangle, HollowDiamond, Cross, Square };
constexpr size_t kMarkers = 6;

// Told apart by most colour-blind eyes, and of different lightness.
constexpr Colour kColours[] = {palette::kWeight, palette::kNegative, palette::kInk,
                               {0, 140, 110},    {190, 90, 150},     palette::kDarkWeight};

/// How one line looks.
struct LineStyle {
  Colour colour;
  Marker marker;
  bool dashed;
};

LineStyle series_style(size_t series) {
  return {kColours[series % std::size(kColours)], static_cast<Marker>(series % kMarkers),
          series % 2 == 1};
}

/// A regular polygon around `centre`, the first corner at `turn` degrees from the right.
std::vector<Point> corners(Point centre, size_t count, double radius, double turn) {
  std::vector<Point> result;
  for (size_t i = 0; i < count; ++i) {
    const double angle = (turn + 360 * double(i) / double(count)) * M_PI / 180;
    result.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
  return result;
}

void draw_marker(Canvas& canvas, Point at, const LineStyle& style) {
  const double radius = kMarkerRadius;
  switch (style.marker) {
    case Marker::Disc:
      canvas.polygon(corners(at, 24, radius, 0), style.colour);
      break;
    case Marker::HollowSquare:
      canvas.polygon(corners(at, 4, radius * 1.35, 45), style.colour);
      canvas.polygon(corners(at, 4, radius * 0.75, 45), palette::kPaper);
      break;
    case Marker::Triangle:
      canvas.polygon(corners(at, 3, radius * 1.4, -90), style.colour);
      break;
    case Marker::HollowDiamond:
      canvas.polygon(corners(at, 4, radius * 1.4, 0), style.colour);
      canvas.polygon(corners(at, 4, radius * 0.75, 0), palette::kPaper);
      break;
    case Marker::Cross:
      canvas.line({at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}, style.colour, 2);
      canvas.line({at.x - radius, at.y + radius}, {at.x + radius, at.y - radius}, style.colour, 2);
      break;
    case Marker::Square:
      canvas.polygon(corners(at, 4, radius * 1.3, 45), style.colour);
      break;
  }
}

void draw_stroke(Canvas& canvas, Point from, Point to, const LineStyle& style) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (!style.dashed) {
    canvas.line(from, to, style.colour, kLineWidth);
    return;
  }
  auto between = [&](double at) {
    const double share = std::min(at / length, 1.0);
    return Point{from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
  };
  const int dashes = int(std::ceil(length / (kDash + kPause)));
  for (int dash = 0; dash < dashes; ++dash) {
    const double at = dash * (kDash + kPause);
    canvas.line(between(at), between(at + kDash), style.colour, kLineWidth);
  }
}

class ChartBlock : public Block {
 public:
  explicit ChartBlock(const LineChart& chart)
      : chart_(chart), axis_(value_axis(chart)), has_intervals_(has_intervals(chart)) {
    for (int tick = 0; tick <= axis_.steps(); ++tick)
      left_ = std::max(left_, text_width(tick_text(tick), kSmallTextSize));
    if (!chart.counts.empty()) left_ = std::max(left_, text_width(kCountsLabel, kSmallTextSize));
    left_ += kGap + (chart.y_label.empty() ? 0 : kTextSize + kGap);
    measure_ticks();
    place_legend();
    height_ = legend_height_ + kPlotHeight + kGap + tick_height_ +
              (chart.counts.empty() ? 0 : count_height_) +
              (chart.x_label.empty() ? 0 : kTextSize + kGap + 4);
  }

  void draw(Canvas& canvas, Point origin) const override {
    draw_key(canvas, origin);
    const Rectangle plot{origin.x + left_, origin.y + legend_height_, plot_width(), kPlotHeight};
    draw_axes(canvas, origin, plot);
    for (size_t i = 0; i < chart_.series.size(); ++i) draw_intervals(canvas, plot, i);
    for (size_t i = 0; i < chart_.series.size(); ++i) draw_line(canvas, plot, i);
    for (size_t i = 0; i < chart_.series.size(); ++i)
      for (size_t tick = 0; tick < chart_.x_ticks.size(); ++tick)
        if (std::isfinite(chart_.series[i].values[tick]))
          draw_marker(canvas, place(plot, i, tick), series_style(i));
  }

 private:
  double plot_width() const { return width_ - left_; }
  double slot() const { return plot_width() / double(chart_.x_ticks.size()); }
  std::string tick_text(int tick) const { return format_number(axis_.value(tick)); }

  double y_at(const Rectangle& plot, double value) const {
    return plot.y + plot.height * (1 - axis_.share(value));
  }
  /// Points of one bucket stand side by side when intervals would cover each other.
  Point place(const Rectangle& plot, size_t series, size_t tick) const {
    const auto count = double(chart_.series.size());
    const double shift = has_intervals_ ? std::min(kMostShift, slot() * 0.5 / count) : 0;
    return {plot.x + slot() * (double(tick) + 0.5) + shift * (double(series) - (count - 1) / 2),
            y_at(plot, chart_.series[series].values[tick])};
  }

  /// Texts that do not fit side by side stand upright, and are thinned out when even that is too
  /// narrow.
  void measure_ticks() {
    double widest = 0, widest_count = 0;
    for (const std::string& tick : chart_.x_ticks)
      widest = std::max(widest,
                        text_width(fitted(tick, kMostTickLabel, kSmallTextSize), kSmallTextSize));
    for (const int64_t count : chart_.counts)
      widest_count = std::max(widest_count, text_width(format_count(count), kSmallTextSize));
    upright_ = std::max(widest, widest_count) > slot() - 4;
    tick_height_ = (upright_ ? widest : kSmallTextSize) + 6;
    count_height_ = (upright_ ? widest_count : kSmallTextSize) + 6;
    every_ = upright_ ? size_t(std::max(1.0, std::ceil((kSmallTextSize + 2) / slot()))) : 1;
  }

  struct KeyPlace {
    double x, y;
    std::string text;
  };
  void place_legend() {
    double x = 0, y = 0;
    auto add = [&](const std::string& text) {
      const std::string shown = fitted(text, width_ / 2, kTextSize - 1);
      const double width = kSampleLength + 6 + text_width(shown, kTextSize - 1) + 22;
      if (x > 0 && x + width > plot_width()) {
        x = 0;
        y += kLegendHeight - 4;
      }
      keys_.push_back({x, y, shown});
      x += width;
    };
    for (const LineSeries& series : chart_.series) add(series.name);
    if (has_intervals_) add("interval");
    legend_height_ = y + kLegendHeight + 6;
  }

  void draw_key(Canvas& canvas, Point origin) const {
    for (size_t i = 0; i < keys_.size(); ++i) {
      const double x = origin.x + left_ + keys_[i].x, y = origin.y + keys_[i].y + 7.5;
      const double middle = x + kSampleLength / 2;
      if (i < chart_.series.size()) {
        draw_stroke(canvas, {x, y}, {x + kSampleLength, y}, series_style(i));
        draw_marker(canvas, {middle, y}, series_style(i));
      } else {
        canvas.whisker({middle, y - 6}, {middle, y + 6}, kCap, palette::kQuietInk, 1.2);
      }
      canvas.text({x + kSampleLength + 6, y + 4}, keys_[i].text, {kTextSize - 1, palette::kInk});
    }
  }

  void draw_axes(Canvas& canvas, Point origin, const Rectangle& plot) const {
    for (int tick = 0; tick <= axis_.steps(); ++tick) {
      const double y = y_at(plot, axis_.value(tick));
      const bool is_base = tick == 0 || std::abs(axis_.value(tick)) < axis_.step / 2;
      canvas.line({plot.x, y}, {plot.x + plot.width, y}, is_base ? palette::kAxis : palette::kGrid,
                  1);
      canvas.text({plot.x - kGap, y + 3.5}, tick_text(tick),
                  {kSmallTextSize, palette::kQuietInk, Anchor::End});
    }
    if (!chart_.y_label.empty())
      canvas.text({origin.x + kTextSize, plot.y + plot.height / 2},
                  fitted(chart_.y_label, plot.height, kTextSize),
                  {kTextSize, palette::kInk, Anchor::Middle, false, -90});
    double y = plot.y + plot.height + kGap;
    for (size_t tick = 0; tick < chart_.x_ticks.size(); ++tick)
      draw_tick(canvas, plot, tick, {chart_.x_ticks[tick], y, palette::kInk});
    y += tick_height_;
    if (!chart_.counts.empty()) {
      canvas.text({plot.x - kGap, y + kSmallTextSize}, kCountsLabel,
                  {kSmallTextSize, palette::kQuietInk, Anchor::End});
      for (size_t tick = 0; tick < chart_.counts.size(); ++tick)
        draw_tick(canvas, plot, tick, {format_count(chart_.counts[tick]), y, palette::kQuietInk});
      y += count_height_;
    }
    if (!chart_.x_label.empty())
      canvas.text({plot.x + plot.width / 2, y + kTextSize + 2},
                  fitted(chart_.x_label, plot.width, kTextSize),
                  {kTextSize, palette::kInk, Anchor::Middle});
  }

  struct TickText {
    std::string text;
    double top;
    Colour colour;
  };
  void draw_tick(Canvas& canvas, const Rectangle& plot, size_t tick, const TickText& label) const {
    if (tick % every_ != 0) return;
    const double x = plot.x + slot() * (double(tick) + 0.5);
    const std::string shown = fitted(label.text, kMostTickLabel, kSmallTextSize);
    if (upright_) {
      canvas.text({x + 3.5, label.top}, shown,
                  {kSmallTextSize, label.colour, Anchor::End, false, -90});
    } else {
      canvas.text({x, label.top + kSmallTextSize}, shown,
                  {kSmallTextSize, label.colour, Anchor::Middle});
    }
  }

  void draw_intervals(Canvas& canvas, const Rectangle& plot, size_t index) const {
    const LineSeries& series = chart_.series[index];
    for (size_t tick = 0; tick < series.half_intervals.size(); ++tick) {
      const double value = series.values[tick], half = series.half_intervals[tick];
      if (!std::isfinite(value) || !std::isfinite(half) || half <= 0) continue;
      const double x = place(plot, index, tick).x;
      canvas.whisker({x, y_at(plot, value + half)}, {x, y_at(plot, value - half)}, kCap,
                     mix(palette::kPaper, series_style(index).colour, 0.75), 1.2);
    }
  }

  void draw_line(Canvas& canvas, const Rectangle& plot, size_t index) const {
    const std::vector<double>& values = chart_.series[index].values;
    for (size_t tick = 1; tick < values.size(); ++tick)
      if (std::isfinite(values[tick - 1]) && std::isfinite(values[tick]))
        draw_stroke(canvas, place(plot, index, tick - 1), place(plot, index, tick),
                    series_style(index));
  }

  const LineChart& chart_;
  ValueAxis axis_;
  bool has_intervals_;
  std::vector<KeyPlace> keys_;
  double left_ = 0, legend_height_ = 0, tick_height_ = 0, count_height_ = 0;
  bool upright_ = false;
  size_t every_ = 1;
};

}  // namespace

std::unique_ptr<Block> chart_block(const LineChart& chart) {
  if (chart.x_ticks.empty() || chart.series.empty()) return empty_block("chart");
  return std::make_unique<ChartBlock>(chart);
}

}  // namespace fovea
