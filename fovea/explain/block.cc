#include "fovea/explain/block.h"

#include <cmath>

#include "fovea/explain/labels.h"

namespace fovea {
namespace {

constexpr double kSwatch = 11;

class EmptyBlock : public Block {
 public:
  EmptyBlock() { height_ = 24; }
  void draw(Canvas& canvas, Point origin) const override {
    canvas.text({origin.x, origin.y + 14}, "This map is empty.",
                {kTextSize, palette::kQuietInk, Anchor::Start, false, 0});
  }
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
      canvas.line({place.x, middle}, {right, middle}, item.colour, 1.2);
      for (const double x : {place.x, right})
        canvas.line({x, middle - 3.5}, {x, middle + 3.5}, item.colour, 1.2);
    }
  }
}

}  // namespace

void draw_legend(Canvas& canvas, Point origin, const std::vector<LegendItem>& items) {
  double x = origin.x;
  for (const LegendItem& item : items) {
    draw_mark(canvas, {x, origin.y + 2, kSwatch, kSwatch}, item);
    x += kSwatch + 6;
    canvas.text({x, origin.y + 11.5}, item.text,
                {kTextSize - 1, palette::kQuietInk, Anchor::Start, false, 0});
    x += text_width(item.text, kTextSize - 1) + 20;
  }
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

std::unique_ptr<Block> empty_block() {
  return std::make_unique<EmptyBlock>();
}

}  // namespace fovea
