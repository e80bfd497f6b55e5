#include "fovea/data/captions/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/dice.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

constexpr size_t kKinds = 10;  // of colours, and of shapes
struct Colour {
  const char* name;
  std::array<double, 3> light;
};
constexpr Colour kColours[kKinds] = {{"red", {210, 30, 35}},     {"orange", {245, 135, 25}},
                                     {"yellow", {240, 220, 45}}, {"green", {45, 150, 60}},
                                     {"cyan", {60, 205, 215}},   {"blue", {35, 65, 200}},
                                     {"purple", {130, 45, 165}}, {"pink", {245, 150, 190}},
                                     {"brown", {125, 75, 40}},   {"black", {40, 40, 45}}};

/// A star of five points, one of them above: its border are straight lines between two circles.
bool is_in_star(double x, double y) {
  constexpr double kPi = 3.14159265358979, kStep = 2 * kPi / 5, kInner = 0.45;
  double angle = std::fmod(std::atan2(x, -y) + 2 * kPi, kStep);
  angle = std::min(angle, kStep - angle);  // from the nearest point
  // Which side of the line from the point, at 1 and angle 0, to the corner, at kInner and half a
  // step.
  const double corner_x = kInner * std::sin(kStep / 2), corner_y = kInner * std::cos(kStep / 2);
  const double px = std::hypot(x, y) * std::sin(angle), py = std::hypot(x, y) * std::cos(angle);
  return corner_x * (py - 1) - (corner_y - 1) * px <= 0;
}

/// What belongs to a shape that fills -1 … 1, y growing downwards.
struct Shape {
  const char* name;
  bool (*contains)(double x, double y);
};
const Shape kShapes[kKinds] = {
    {"circle", [](double x, double y) { return std::hypot(x, y) <= 1; }},
    {"square", [](double x, double y) { return std::abs(x) <= 0.9 && std::abs(y) <= 0.9; }},
    {"triangle", [](double x, double y) { return y <= 0.9 && std::abs(x) <= (y + 1) / 1.9; }},
    {"diamond", [](double x, double y) { return std::abs(x) + std::abs(y) <= 1; }},
    {"cross",
     [](double x, double y) {
       return std::min(std::abs(x), std::abs(y)) <= 0.32 && std::max(std::abs(x), std::abs(y)) <= 1;
     }},
    {"ring", [](double x, double y) { return std::abs(std::hypot(x, y) - 0.775) <= 0.225; }},
    {"star", is_in_star},
    {"moon",
     [](double x, double y) { return std::hypot(x, y) <= 1 && std::hypot(x - 0.5, y) >= 0.85; }},
    {"bar", [](double x, double y) { return std::abs(x) <= 1 && std::abs(y) <= 0.4; }},
    {"hourglass",
     [](double x, double y) {
       return std::abs(y) <= 1 && std::abs(x) <= 0.9 * std::abs(y) + 0.08;
     }},
};

/// Sides of the first, second and third thing, as shares of the picture's.
constexpr double kSizes[] = {0.40, 0.27, 0.18};
constexpr double kGap = 0.02;      // at least, between two things and to the border
constexpr double kClearly = 0.12;  // how much more one is left of than above another
constexpr int kMostTries = 200;    // to place the things of one picture
constexpr double kOutline = 0.12;  // width of the dark outline of a shape that fills -1 … 1
constexpr double kDark = 35;

struct Thing {
  size_t colour = 0, shape = 0;
  double size = 0, x = 0, y = 0;  // shares of the side; x, y: of the centre
};

/// Pairs are held out along diagonals, so that every colour and every shape is trained on with
/// others: of a colour's ten shapes one is kept for validation and one for the test.
bool is_of_split(const Thing& thing, int split) {
  const size_t diagonal = (thing.shape + kKinds - thing.colour) % kKinds;
  constexpr size_t kOfTest = 0, kOfValidation = kKinds / 2;
  if (split == kTrain) return diagonal != kOfTest && diagonal != kOfValidation;
  return diagonal == (split == kTest ? kOfTest : kOfValidation);
}

class ScenePainter {
 public:
  ScenePainter(const SyntheticCaptionsOptions& options, int64_t size, int split,
               const Random& random)
      : options_(options),
        size_(size),
        split_(split),
        random_(random),
        dice_(random.split("dice")) {}

  CaptionedImage paint() {
    choose_things();
    while (!place_things()) {
    }
    CaptionedImage scene;
    scene.drawn = make_image(size_, size_, 3);
    paint_ground(scene.drawn);
    for (size_t i = 0; i < things_.size(); ++i) paint_thing(things_[i], i, scene.drawn);
    tell(scene);
    return scene;
  }

 private:
  double uniform() { return double(dice_.below(1u << 20)) / double(1u << 20); }

  void choose_things() {
    things_.resize(1 + dice_.below(size_t(options_.objects)));
    const size_t held_out = dice_.below(things_.size());  // at least this one is of the split's own
    for (size_t i = 0; i < things_.size(); ++i) {
      Thing& thing = things_[i];
      do {
        thing.colour = dice_.below(kKinds);
        thing.shape = dice_.below(kKinds);
      } while (!is_of_split(thing, i == held_out ? split_ : kTrain));
      thing.size = kSizes[i];
    }
  }

  bool place_things() {
    for (int attempt = 0; attempt < kMostTries; ++attempt) {
      for (Thing& thing : things_) {
        const double room = 1 - thing.size - 2 * kGap;
        thing.x = kGap + thing.size / 2 + uniform() * room;
        thing.y = kGap + thing.size / 2 + uniform() * room;
      }
      if (are_apart() && are_clear()) return true;
    }
    return false;
  }

  bool are_apart() const {
    for (size_t i = 0; i < things_.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const double needed = (things_[i].size + things_[j].size) / 2 + kGap;
        if (std::abs(things_[i].x - things_[j].x) < needed &&
            std::abs(things_[i].y - things_[j].y) < needed)
          return false;
      }
    return true;
  }

  /// Nobody can doubt whether a thing is beside or above the next one.
  bool are_clear() const {
    for (size_t i = 1; i < things_.size(); ++i) {
      const double across = std::abs(things_[i].x - things_[i - 1].x),
                   along = std::abs(things_[i].y - things_[i - 1].y);
      if (std::abs(across - along) < kClearly) return false;
    }
    return true;
  }

  /// Light grey with a little noise.
  void paint_ground(Image& image) {
    const Random noise = random_.split("ground");
    const double level = 205 + 40 * uniform();
    for (size_t i = 0; i < image.pixels.size(); ++i)
      image.pixels[i] = to_byte(level + 10 * (noise.uniform(i) - 0.5));
  }

  void paint_thing(const Thing& thing, size_t number, Image& image) {
    std::array<double, 3> light = kColours[thing.colour].light;
    for (double& value : light) value += 24 * (uniform() - 0.5);
    const Random noise = random_.split("thing").split(number);
    for (int64_t y = 0; y < size_; ++y)
      for (int64_t x = 0; x < size_; ++x) {
        const Cover cover = cover_of(thing, x, y);
        if (cover.all == 0) continue;
        const double grain = 10 * (noise.uniform(uint64_t(y * size_ + x)) - 0.5);
        for (int64_t channel = 0; channel < 3; ++channel) {
          uint8_t& pixel = image.at(y, x, channel);
          pixel = to_byte((1 - cover.all) * pixel + cover.outline * kDark +
                          (cover.all - cover.outline) * (light[size_t(channel)] + grain));
        }
      }
  }

  /// How much of a pixel a thing covers, and how much of it is outline, from 3 x 3 points.
  struct Cover {
    double all = 0, outline = 0;
  };
  Cover cover_of(const Thing& thing, int64_t x, int64_t y) const {
    constexpr int kPoints = 3;
    constexpr double kShare = 1.0 / (kPoints * kPoints);
    const double half = thing.size / 2;
    const auto contains = kShapes[thing.shape].contains;
    Cover cover;
    for (int i = 0; i < kPoints; ++i)
      for (int j = 0; j < kPoints; ++j) {
        const double px = ((double(x) + (i + 0.5) / kPoints) / double(size_) - thing.x) / half,
                     py = ((double(y) + (j + 0.5) / kPoints) / double(size_) - thing.y) / half;
        if (!contains(px, py)) continue;
        cover.all += kShare;
        const bool deep = contains(px - kOutline, py) && contains(px + kOutline, py) &&
                          contains(px, py - kOutline) && contains(px, py + kOutline);
        if (!deep) cover.outline += kShare;
      }
    return cover;
  }

  static uint8_t to_byte(double value) { return uint8_t(std::clamp(value + 0.5, 0.0, 255.0)); }

  static const char* side_of(const Thing& thing, const Thing& other) {
    const double across = thing.x - other.x, along = thing.y - other.y;
    if (std::abs(across) > std::abs(along)) return across < 0 ? " left of " : " right of ";
    return along < 0 ? " above " : " below ";
  }

  void tell(CaptionedImage& scene) const {
    std::string& caption = scene.captions.emplace_back();
    for (size_t i = 0; i < things_.size(); ++i) {
      const Thing& thing = things_[i];
      if (i > 0) caption += side_of(things_[i - 1], thing);
      const std::string colour = kColours[thing.colour].name;
      caption += colour == "orange" ? "an " : "a ";
      const auto begin = int64_t(caption.size());
      caption += concat(colour, " ", kShapes[thing.shape].name);
      const double half = thing.size / 2;
      scene.boxes.push_back({begin, int64_t(caption.size()), thing.x - half, thing.y - half,
                             thing.x + half, thing.y + half});
    }
  }

  const SyntheticCaptionsOptions& options_;
  int64_t size_;
  int split_;
  Random random_;
  Dice dice_;
  std::vector<Thing> things_;
};

}  // namespace

void SyntheticCaptionsOptions::describe(OptionList& list) {
  describe_rows(list, "pictures");
  list.add("objects", objects, "built-in data: most things in a picture").within(1, 3);
  describe_seed(list, "pictures");
}

SplitRows<CaptionedImage> draw_captions(const SyntheticCaptionsOptions& options, int64_t size) {
  options.check_rows("pictures");
  require(options.objects >= 1 && options.objects <= 3, ErrorKind::InvalidArgument,
          "built-in pictures show 1 to 3 things, not ", options.objects);
  require(size >= 16, ErrorKind::InvalidArgument, "built-in pictures need at least 16 pixels a ",
          "side, found data.image_size=", size);
  const Random random = Random(uint64_t(options.seed)).split("scenes");
  const int64_t counts[kSplitCount] = {options.rows, options.validation_rows, options.test_rows};
  SplitRows<CaptionedImage> draw;
  for (int split = 0; split < kSplitCount; ++split) {
    std::vector<CaptionedImage>& rows = draw[split].keep();
    rows.resize(size_t(counts[split]));
    const Random own = random.split(kSplitNames[split]);
    run_parallel(counts[split], [&](int64_t i) {
      rows[size_t(i)] = ScenePainter(options, size, split, own.split(uint64_t(i))).paint();
    });
  }
  Json decided = options_json(options);
  decided["image_size"] = size;
  draw.hash = hash_of_built_in("caption", decided);
  draw.notes.push_back(
      concat("built-in pictures of coloured shapes, seed ", options.seed, ": ",
             options.counted("pictures"),
             "; validation and test show colours on shapes that training did not"));
  return draw;
}

}  // namespace fovea
