#include "fovea/explain/draw/block.h"

#include <cmath>

#include "fovea/base/text.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr double kSwatch = 11;
constexpr double kBeforeText = 6;
constexpr double kAfterText = 20;

/// From the start of one item to the start of the next.
double item_width(const LegendItem& item) {
  return kSwatch + kBeforeText + text_width(item.text, kTextSize - 1) + kAfterText;
}

class EmptyBlock : public Block {
 public:
  explicit EmptyBlock(const std::string& what) : text_(concat("This ", what, " is empty.")) {
    height_ = 24;
  }
  void draw(Canvas& canvas, Point origin) const override {
    canvas.text({origin.x, origin.y + 14}, text_, {kTextSize, palette::kQuietInk});
  }

 private:
  std::string text_;
};

void draw_mark(Canvas& canvas, const Rectangle& place, const LegendItem& item) {
  switch (item.mark) {
    case LegendMark::Square:
      canvas.fill(place, item.colour);
      break;
    case LegendMark::Frame:
      canvas.frame(place, item.colour, 2);
      break;
    case LegendMark::Whisker: {
      const double middle = place.y + place.height / 2, right = place.x + place.width;
      canvas.whisker({place.x, middle}, {right, middle}, 3.5, item.colour, 1.2);
      break;
    }
    case LegendMark::Equal:
      draw_equal_mark(canvas, {place.x + place.width / 2, place.y + 2});
  }
}

}  // namespace

double legend_width(const std::vector<LegendItem>& items) {
  double width = 0;
  for (const LegendItem& item : items) width += item_width(item);
  return width;
}

void draw_legend(Canvas& canvas, Point origin, const std::vector<LegendItem>& items) {
  double x = origin.x;
  for (const LegendItem& item : items) {
    draw_mark(canvas, {x, origin.y + 2, kSwatch, kSwatch}, item);
    canvas.text({x + kSwatch + kBeforeText, origin.y + 11.5}, item.text,
                {kTextSize - 1, palette::kQuietInk});
    x += item_width(item);
  }
}

void draw_equal_mark(Canvas& canvas, Point tip) {
  canvas.polygon({tip, {tip.x + 4, tip.y + 7}, {tip.x - 4, tip.y + 7}}, palette::kInk);
}

AxisScale axis_scale(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return {};
  const double rough = largest / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0})
    if (factor * power >= rough * 0.999) step = factor * power;
  return {step * std::ceil(largest / step * 0.999), step};
}

std::unique_ptr<Block> empty_block(const std::string& what) {
  return std::make_unique<EmptyBlock>(what);
}

}  // namespace fovea
