// A part of a picture that knows its size before it is drawn, and the parts that all of them share:
// legends and scales.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/explain/draw/canvas.h"
#include "fovea/explain/draw/figure.h"

namespace fovea {

inline constexpr double kPictureWidth = 820;  // of the content; a wide matrix may exceed it
inline constexpr double kTextSize = 12;
inline constexpr double kSmallTextSize = 10;

struct LineChart;

class Block {
 public:
  virtual ~Block() = default;
  virtual void draw(Canvas& canvas, Point origin) const = 0;
  double width() const { return width_; }
  double height() const { return height_; }

 protected:
  double width_ = kPictureWidth;
  double height_ = 0;
};

enum class LegendMark { Square, Whisker, Frame, Equal };

struct LegendItem {
  LegendMark mark = LegendMark::Square;
  Colour colour;
  std::string text;
};

inline constexpr double kLegendHeight = 24;

/// The items in a row from `origin`, the upper left corner.
double legend_width(const std::vector<LegendItem>& items);
void draw_legend(Canvas& canvas, Point origin, const std::vector<LegendItem>& items);

/// A small triangle whose tip is at a place below a scale: there all are looked at alike.
void draw_equal_mark(Canvas& canvas, Point tip);

/// A round end and a round step for an axis that starts at 0: at most six ticks.
struct AxisScale {
  double end = 1, step = 0.25;
};
AxisScale axis_scale(double largest);

/// "This map is empty." in place of a figure.
std::unique_ptr<Block> empty_block(const std::string& what = "map");

std::unique_ptr<Block> bars_block(const MapView& map, const PictureOptions& options);
std::unique_ptr<Block> panels_block(const Figure& figure, const PictureOptions& options);
std::unique_ptr<Block> matrix_block(const MapView& map);
/// Points into `chart`, which must outlive it.
std::unique_ptr<Block> chart_block(const LineChart& chart);

}  // namespace fovea
