#include "fovea/explain/draw/svg_canvas.h"

#include <cmath>
#include <cstdio>

#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

/// Two decimals at most: a hundredth of a point is invisible.
std::string number(double value) {
  return format_number(std::round(value * 100) / 100, 8);
}

std::string hexadecimal(Colour colour) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "#%02x%02x%02x", colour.red, colour.green, colour.blue);
  return buffer;
}

const char* anchor_name(Anchor anchor) {
  return anchor == Anchor::Start ? "start" : anchor == Anchor::Middle ? "middle" : "end";
}

}  // namespace

void SvgCanvas::fill(const Rectangle& rectangle, Colour colour) {
  body_ += concat("<rect x=\"", number(rectangle.x), "\" y=\"", number(rectangle.y), "\" width=\"",
                  number(rectangle.width), "\" height=\"", number(rectangle.height), "\" fill=\"",
                  hexadecimal(colour), "\"/>\n");
}

void SvgCanvas::line(Point from, Point to, Colour colour, double thickness) {
  body_ += concat("<line x1=\"", number(from.x), "\" y1=\"", number(from.y), "\" x2=\"",
                  number(to.x), "\" y2=\"", number(to.y), "\" stroke=\"", hexadecimal(colour),
                  "\" stroke-width=\"", number(thickness), "\"/>\n");
}

void SvgCanvas::polygon(const std::vector<Point>& corners, Colour colour) {
  body_ += "<polygon points=\"";
  for (const Point& corner : corners)
    body_ += concat(&corner == corners.data() ? "" : " ", number(corner.x), ",", number(corner.y));
  body_ += concat("\" fill=\"", hexadecimal(colour), "\"/>\n");
}

void SvgCanvas::text(Point at, std::string_view text, const TextStyle& style) {
  body_ += concat("<text x=\"", number(at.x), "\" y=\"", number(at.y), "\" font-size=\"",
                  number(style.size), "\" fill=\"", hexadecimal(style.colour), "\"");
  if (style.anchor != Anchor::Start)
    body_ += concat(" text-anchor=\"", anchor_name(style.anchor), "\"");
  if (style.bold) body_ += " font-weight=\"bold\"";
  if (style.rotation != 0)
    body_ += concat(" transform=\"rotate(", number(style.rotation), " ", number(at.x), " ",
                    number(at.y), ")\"");
  body_ += concat(">", escape_markup(printable_label(text)), "</text>\n");
}

std::string SvgCanvas::document() const {
  return concat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(width()),
                "\" height=\"", number(height()), "\" viewBox=\"0 0 ", number(width()), " ",
                number(height()), "\" font-family=\"&quot;DejaVu Sans&quot;, sans-serif\">\n",
                body_, "</svg>\n");
}

void SvgCanvas::save(const std::filesystem::path& path) {
  write_file(path, document());
}

std::unique_ptr<Canvas> make_svg_canvas(double width, double height) {
  return std::make_unique<SvgCanvas>(width, height);
}

}  // namespace fovea
