// The few things a picture is drawn with. Coordinates are in points from the upper left corner, y
// downwards. Backends only draw: text is measured here, from the advances of DejaVu Sans, so that
// the same picture comes out of all of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
};

namespace palette {
inline constexpr Colour kPaper{255, 255, 255};
inline constexpr Colour kInk{34, 34, 34};
inline constexpr Colour kQuietInk{105, 105, 105};
inline constexpr Colour kGrid{226, 226, 226};
inline constexpr Colour kAxis{150, 150, 150};
inline constexpr Colour kWeight{232, 113, 10};        // learned: orange
inline constexpr Colour kLightWeight{250, 190, 130};  // a second series: the same hue, paler
inline constexpr Colour kDarkWeight{110, 44, 0};      // the top of a matrix' scale
inline constexpr Colour kNegative{40, 100, 180};      // below 0
inline constexpr Colour kTruth{150, 212, 160};        // planted: green
inline constexpr Colour kTruthEdge{30, 140, 62};
}  // namespace palette

/// `share` 0 gives `from`, 1 gives `to`.
Colour mix(Colour from, Colour to, double share);

struct Point {
  double x = 0, y = 0;
};

struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

enum class Anchor { Start, Middle, End };

struct TextStyle {
  double size = 12;
  Colour colour = palette::kInk;
  Anchor anchor = Anchor::Start;
  bool bold = false;
  double rotation = 0;  // degrees, clockwise, around the anchor
};

class Canvas {
 public:
  Canvas(double width, double height) : width_(width), height_(height) {}
  virtual ~Canvas() = default;

  virtual void fill(const Rectangle& rectangle, Colour colour) = 0;
  virtual void line(Point from, Point to, Colour colour, double thickness) = 0;
  /// Filled; the corners in order, the last one joined to the first.
  virtual void polygon(const std::vector<Point>& corners, Colour colour) = 0;
  /// `at` is the anchor on the baseline. Any text is safe: it is escaped by the backend after
  /// printable_label().
  virtual void text(Point at, std::string_view text, const TextStyle& style) = 0;
  /// Writes atomically.
  virtual void save(const std::filesystem::path& path) = 0;

  /// Four lines along the inner edge.
  void frame(const Rectangle& rectangle, Colour colour, double thickness);
  /// A level or upright line with a bar of twice `cap` across each end.
  void whisker(Point from, Point to, double cap, Colour colour, double thickness);
  double width() const { return width_; }
  double height() const { return height_; }

 private:
  double width_, height_;
};

using CanvasFactory = std::function<std::unique_ptr<Canvas>(double width, double height)>;

/// An estimate, right within a few per cent for Latin text in DejaVu Sans and not too small for
/// most other fonts.
double text_width(std::string_view text, double size, bool bold = false);

/// printable_label() text that is at most `width` points wide, ending in "…" when something was cut
/// off.
std::string fitted(std::string_view text, double width, double size, bool bold = false);

}  // namespace fovea
