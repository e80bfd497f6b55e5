// A canvas that writes one self-contained SVG file: real <text>, no scripts, no links, no embedded
// fonts.
#pragma once

#include <memory>
#include <string>

#include "fovea/explain/draw/canvas.h"

namespace fovea {

class SvgCanvas : public Canvas {
 public:
  SvgCanvas(double width, double height) : Canvas(width, height) {}

  void fill(const Rectangle& rectangle, Colour colour) override;
  void line(Point from, Point to, Colour colour, double thickness) override;
  void polygon(const std::vector<Point>& corners, Colour colour) override;
  void text(Point at, std::string_view text, const TextStyle& style) override;
  void save(const std::filesystem::path& path) override;

  /// The whole document.
  std::string document() const;

 private:
  std::string body_;
};

std::unique_ptr<Canvas> make_svg_canvas(double width, double height);

}  // namespace fovea
