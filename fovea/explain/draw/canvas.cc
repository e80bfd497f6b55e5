#include "fovea/explain/draw/canvas.h"

#include <cmath>

#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

// Advances of DejaVu Sans from ' ' to '~', in thousandths of the font size.
constexpr int kAdvances[] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr double kOtherAdvance = 0.75;  // most letters beyond ASCII are a little wider
constexpr double kSymbolAdvance = 1.0;  // arrows, ellipses, wide characters: no wider than this
constexpr double kBoldFactor = 1.1;

double advance(const std::string& character) {
  if (character.size() == 1 && character[0] >= ' ' && character[0] <= '~')
    return kAdvances[character[0] - ' '] / 1000.0;
  const bool is_symbol = static_cast<unsigned char>(character[0]) >= 0xE0;
  return is_symbol ? kSymbolAdvance : kOtherAdvance;
}

}  // namespace

Colour mix(Colour from, Colour to, double share) {
  auto between = [share](uint8_t low, uint8_t high) {
    return uint8_t(std::lround(low + share * (high - low)));
  };
  return {between(from.red, to.red), between(from.green, to.green), between(from.blue, to.blue)};
}

void Canvas::frame(const Rectangle& rectangle, Colour colour, double thickness) {
  const double right = rectangle.x + rectangle.width - thickness;
  const double bottom = rectangle.y + rectangle.height - thickness;
  fill({rectangle.x, rectangle.y, rectangle.width, thickness}, colour);
  fill({rectangle.x, bottom, rectangle.width, thickness}, colour);
  fill({rectangle.x, rectangle.y, thickness, rectangle.height}, colour);
  fill({right, rectangle.y, thickness, rectangle.height}, colour);
}

void Canvas::whisker(Point from, Point to, double cap, Colour colour, double thickness) {
  line(from, to, colour, thickness);
  const double across = from.x == to.x ? cap : 0, down = cap - across;
  for (const Point& end : {from, to})
    line({end.x - across, end.y - down}, {end.x + across, end.y + down}, colour, thickness);
}

double text_width(std::string_view text, double size, bool bold) {
  double width = 0;
  for (const std::string& character : characters(text)) width += advance(character);
  return width * size * (bold ? kBoldFactor : 1);
}

std::string fitted(std::string_view text, double width, double size, bool bold) {
  std::string whole = printable_label(text);
  if (text_width(whole, size, bold) <= width) return whole;
  const double available = width - text_width("…", size, bold);
  std::string result;
  double used = 0;
  for (const std::string& character : characters(whole)) {
    used += text_width(character, size, bold);
    if (used > available) break;
    result += character;
  }
  return result + "…";
}

}  // namespace fovea
