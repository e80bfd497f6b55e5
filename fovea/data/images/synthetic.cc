#include "fovea/data/images/synthetic.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

constexpr int64_t kDigits = 10;
constexpr int kPieces = 6;                              // of a stroke between two control points
constexpr double kLowest = 0.55, kHighest = 0.8;        // height of a digit, of the picture's
constexpr double kNarrowest = 0.55, kWidest = 0.8;      // width, of its height
constexpr double kThinnest = 0.035, kThickest = 0.065;  // half of the pen, of the picture's height

/// The strokes of each digit in a box from (0, 0), top left, to (1, 1).
const std::vector<Stroke> kStrokes[kDigits] = {
    {{{.5, 0}, {.14, .2}, {.08, .6}, {.3, .96}, {.7, .96}, {.92, .6}, {.86, .2}, {.5, 0}}},
    {{{.25, .22}, {.55, 0}}, {{.55, 0}, {.55, 1}}},
    {{{.1, .25}, {.3, .02}, {.68, .02}, {.85, .25}, {.7, .52}, {.4, .76}, {.1, 1}},
     {{.1, 1}, {.92, 1}}},
    {{{.12, .12}, {.45, 0}, {.8, .18}, {.68, .42}, {.38, .48}},
     {{.38, .48}, {.76, .56}, {.86, .8}, {.5, 1}, {.1, .88}}},
    {{{.62, 0}, {.08, .66}}, {{.08, .66}, {.94, .66}}, {{.66, .3}, {.66, 1}}},
    {{{.86, 0}, {.2, 0}},
     {{.2, 0}, {.14, .45}},
     {{.14, .45}, {.5, .36}, {.86, .6}, {.72, .92}, {.36, 1}, {.1, .88}}},
    {{{.75, .04}, {.36, .22}, {.12, .62}, {.3, .97}, {.68, .96}, {.84, .7}, {.55, .5}, {.18, .64}}},
    {{{.08, 0}, {.92, 0}}, {{.92, 0}, {.6, .45}, {.4, 1}}},
    {{{.5, .48}, {.2, .3}, {.3, .02}, {.7, .02}, {.8, .3}, {.5, .48}},
     {{.5, .48}, {.14, .72}, {.3, .99}, {.7, .99}, {.86, .72}, {.5, .48}}},
    {{{.82, .32}, {.55, .5}, {.2, .36}, {.28, .05}, {.66, .02}, {.82, .32}, {.78, .66}, {.58, 1}}},
};

/// A number between `low` and `high`; each counter is used once.
double between(const Random& random, uint64_t counter, double low, double high) {
  return low + (high - low) * random.uniform(counter);
}

/// The stroke as short straight pieces: a Catmull-Rom curve through its control points.
Stroke smooth(const Stroke& control) {
  Stroke curve;
  const auto at = [&](int64_t i) {
    return control[size_t(std::clamp<int64_t>(i, 0, int64_t(control.size()) - 1))];
  };
  for (int64_t i = 0; i + 1 < int64_t(control.size()); ++i) {
    const Point a = at(i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
    const auto blend = [](double p, double q, double r, double s, double t) {
      return q + 0.5 * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
    };
    for (int piece = 0; piece < kPieces; ++piece) {
      const double t = double(piece) / kPieces;
      curve.push_back({blend(a.x, b.x, c.x, d.x, t), blend(a.y, b.y, c.y, d.y, t)});
    }
  }
  curve.push_back(control.back());
  return curve;
}

/// The strokes with wobble, size, slant and turn, in pixels around (0, 0).
std::vector<Stroke> shape_of(int64_t digit, const SyntheticImagesOptions& options,
                             const Random& random) {
  const double side = double(options.side);
  const double height = side * between(random, 0, kLowest, kHighest);
  const double width = height * between(random, 1, kNarrowest, kWidest);
  const double slant = between(random, 2, -options.slant, options.slant);
  const double angle = between(random, 3, -options.turn, options.turn);
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const Random wobble = random.split("wobble");
  uint64_t next = 0;
  std::vector<Stroke> strokes = kStrokes[digit];
  for (Stroke& stroke : strokes) {
    for (Point& point : stroke) {
      const double y = (point.y - 0.5 + options.wobble * wobble.normal(next++)) * height;
      const double x = (point.x - 0.5 + options.wobble * wobble.normal(next++)) * width - slant * y;
      point = {cosine * x - sine * y, sine * x + cosine * y};
    }
    stroke = smooth(stroke);
  }
  return strokes;
}

/// Moves the strokes to a random place at which the pen stays inside the picture, where it can.
void place(std::vector<Stroke>& strokes, double radius, double side, const Random& random) {
  Point low{side, side}, high{-side, -side};
  for (const Stroke& stroke : strokes)
    for (const Point& point : stroke) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
  const auto shift = [&](uint64_t counter, double from, double to) {
    const double room = side - 2 * (radius + 1) - (to - from);
    return radius + 1 - from + (room > 0 ? room * random.uniform(counter) : room / 2);
  };
  const double right = shift(0, low.x, high.x), down = shift(1, low.y, high.y);
  for (Stroke& stroke : strokes)
    for (Point& point : stroke) point = {point.x + right, point.y + down};
}

double distance(const Point& p, const Point& a, const Point& b) {
  const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  const double along =
      square > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / square, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

/// Draws a straight piece: a pixel is as bright as the pen covers it.
void draw_piece(const Point& a, const Point& b, double radius, int64_t side, uint8_t* pixels) {
  const auto first = [&](double low) {
    return std::clamp<int64_t>(int64_t(std::floor(low - radius - 1)), 0, side - 1);
  };
  const auto last = [&](double high) {
    return std::clamp<int64_t>(int64_t(std::ceil(high + radius + 1)), 0, side - 1);
  };
  for (int64_t y = first(std::min(a.y, b.y)); y <= last(std::max(a.y, b.y)); ++y)
    for (int64_t x = first(std::min(a.x, b.x)); x <= last(std::max(a.x, b.x)); ++x) {
      const double covered = radius + 0.5 - distance({double(x) + 0.5, double(y) + 0.5}, a, b);
      const auto value = uint8_t(std::lround(255 * std::clamp(covered, 0.0, 1.0)));
      pixels[y * side + x] = std::max(pixels[y * side + x], value);
    }
}

}  // namespace

void SyntheticImagesOptions::describe(OptionList& list) {
  describe_rows(list, "digits");
  list.add("side", side, "built-in data: pixels of a digit's picture in each direction")
      .within(8, 256);
  list.add("wobble", wobble, "built-in data: deviation of the strokes' control points")
      .within(0, 0.5);
  list.add("slant", slant, "built-in data: most that a digit leans, to either side").within(0, 1);
  list.add("turn", turn, "built-in data: most that a digit is turned, in radians").within(0, 3.2);
  describe_seed(list, "digits");
}

at::Tensor draw_digit(int64_t digit, const SyntheticImagesOptions& options, const Random& random) {
  require(digit >= 0 && digit < kDigits, ErrorKind::InvalidArgument, "there is no digit ", digit);
  at::Tensor picture = at::zeros({1, options.side, options.side}, at::kByte);
  const double side = double(options.side);
  const double radius = side * between(random, 4, kThinnest, kThickest);
  std::vector<Stroke> strokes = shape_of(digit, options, random);
  place(strokes, radius, side, random.split("place"));
  for (const Stroke& stroke : strokes)
    for (size_t i = 0; i + 1 < stroke.size(); ++i)
      draw_piece(stroke[i], stroke[i + 1], radius, options.side, picture.data_ptr<uint8_t>());
  return picture;
}

SplitRows<LabelledImage> draw_images(const SyntheticImagesOptions& options) {
  options.check_rows("digits");
  require(options.side >= 8 && options.side <= 256, ErrorKind::InvalidArgument, "digits of ",
          options.side, " pixels cannot be drawn; 8 to 256 can");
  const Random random = Random(uint64_t(options.seed)).split("digits");
  const int64_t counts[kSplitCount] = {options.rows, options.validation_rows, options.test_rows};
  SplitRows<LabelledImage> draw;
  for (int split = 0; split < kSplitCount; ++split) {
    const Random own = random.split(kSplitNames[split]);
    std::vector<LabelledImage>& rows = draw[split].keep();
    rows.resize(size_t(counts[split]));
    run_parallel(counts[split], [&](int64_t row) {
      const auto digit = int64_t(own.below(uint64_t(row), kDigits));
      rows[size_t(row)] = {draw_digit(digit, options, own.split(uint64_t(row))),
                           std::to_string(digit)};
    });
  }
  draw.hash = hash_of_built_in("glimpse", options_json(options));
  draw.notes.push_back(
      concat("built-in synthetic digits, seed ", options.seed, ": ", options.counted("digits")));
  return draw;
}

}  // namespace fovea
