// A heat map: queries downwards, keys to the right, darker for more weight, a green line around
// what is planted to matter. Large maps are reduced so that a cell stays visible; labels stand
// level where they fit, then slanted, then upright, and are thinned out before they would overlap.
#include <algorithm>
#include <cmath>

#include "fovea/explain/draw/block.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr size_t kMostCells = 400;  // along a side
constexpr double kLargestCell = 30;
constexpr double kReadableCell = 12;   // one line of small text
constexpr double kMostReadable = 100;  // cells along a side; beyond it the picture would not end
constexpr double kSmallestCell = 2;
constexpr double kMostLabel = 150;
constexpr double kLabelGap = 8;
constexpr double kScaleWidth = 160;
constexpr double kScaleHeight = 10;
constexpr double kBelow = 14;  // between the matrix and its scale
constexpr double kSlant = -50 * M_PI / 180;

enum class LabelStand { Level, Slanted, Upright };

double degrees(LabelStand stand) {
  return stand == LabelStand::Level ? 0 : stand == LabelStand::Slanted ? kSlant * 180 / M_PI : -90;
}

class MatrixBlock : public Block {
 public:
  explicit MatrixBlock(const MapView& map)
      : cells_(max_pool(map, kMostCells, kMostCells)), format_(cells_.scale.ceiling) {
    const double widest_row = widest(cells_.row_labels);
    const double widest_column = widest(cells_.column_labels);
    const double count = double(std::max(cells_.columns, cells_.rows));
    left_ = widest_row + kLabelGap;
    // Room for the last label, which leans to the right.
    const double room = kPictureWidth - left_ - widest_column * std::cos(kSlant);
    cell_ = std::clamp(std::floor(room / count), kSmallestCell, kLargestCell);
    if (count <= kMostReadable) cell_ = std::max(cell_, kReadableCell);
    if (cell_ < kTextSize + 2) size_ = kSmallTextSize;
    stand_ = widest_column <= cell_ - 4               ? LabelStand::Level
             : cell_ * std::sin(-kSlant) >= size_ + 1 ? LabelStand::Slanted
                                                      : LabelStand::Upright;
    top_ = stand_ == LabelStand::Level     ? size_ + 8
           : stand_ == LabelStand::Slanted ? widest_column * std::sin(-kSlant) + 16
                                           : widest_column + 12;
    make_legend();
    const double lean = stand_ == LabelStand::Slanted ? widest_column * std::cos(kSlant) : 0;
    width_ = left_ + std::max({grid_width() + lean, kScaleWidth + 80, legend_width(legend_)});
    height_ = top_ + grid_height() + kBelow + 30 + (legend_.empty() ? 0 : kLegendHeight);
  }

  void draw(Canvas& canvas, Point origin) const override {
    const Point corner{origin.x + left_, origin.y + top_};
    draw_labels(canvas, corner);
    for (size_t row = 0; row < cells_.rows; ++row)
      for (size_t column = 0; column < cells_.columns; ++column)
        draw_cell(canvas, cells_.values[row * cells_.columns + column], place(corner, row, column));
    draw_grid(canvas, corner);
    // Last, so that the grid does not cut it; the light line below parts it from dark cells.
    const double thickness = std::clamp(cell_ / 12, 0.8, 2.0);
    draw_truth(canvas, corner, {palette::kPaper, thickness + 1.6});
    draw_truth(canvas, corner, {palette::kTruthEdge, thickness});
    draw_scale(canvas, {corner.x, corner.y + grid_height() + kBelow});
    if (!legend_.empty())
      draw_legend(canvas, {corner.x, corner.y + grid_height() + kBelow + 30}, legend_);
  }

 private:
  double grid_width() const { return cell_ * double(cells_.columns); }
  double grid_height() const { return cell_ * double(cells_.rows); }
  Rectangle place(Point corner, size_t row, size_t column) const {
    return {corner.x + cell_ * double(column), corner.y + cell_ * double(row), cell_, cell_};
  }

  double widest(const std::vector<std::string>& labels) const {
    double width = 0;
    for (const std::string& label : labels)
      width = std::max(width, text_width(fitted(label, kMostLabel, size_), size_));
    return width;
  }

  void make_legend() {
    if (cells_.has_truth)
      legend_.push_back({LegendMark::Frame, palette::kTruthEdge, "known to matter"});
    if (cells_.scale.has_mark() && !cells_.has_negative)
      legend_.push_back({LegendMark::Equal, palette::kInk, equal_text(cells_.scale.equal)});
    if (const std::string text = pooling_text(cells_); !text.empty())
      legend_.push_back({LegendMark::Square, palette::kGrid, text});
  }

  /// White over orange to dark brown: lightness falls all the way, so that it also reads in grey
  /// and for colour-blind eyes.
  static Colour shade(double share, bool negative) {
    if (negative) return mix(palette::kPaper, palette::kNegative, share);
    constexpr double kTurn = 0.6;
    return share < kTurn
               ? mix(palette::kPaper, palette::kWeight, share / kTurn)
               : mix(palette::kWeight, palette::kDarkWeight, (share - kTurn) / (1 - kTurn));
  }

  void draw_cell(Canvas& canvas, double value, const Rectangle& area) const {
    if (std::isnan(value)) {
      canvas.line({area.x, area.y + area.height}, {area.x + area.width, area.y}, palette::kAxis, 1);
      return;
    }
    const double share = cells_.scale.share(value);
    if (share > 0.002) canvas.fill(area, shade(share, value < 0));
  }

  void draw_grid(Canvas& canvas, Point corner) const {
    const double right = corner.x + grid_width(), bottom = corner.y + grid_height();
    if (cell_ >= 6) {
      for (size_t row = 1; row < cells_.rows; ++row) {
        const double y = corner.y + cell_ * double(row);
        canvas.line({corner.x, y}, {right, y}, palette::kGrid, 0.6);
      }
      for (size_t column = 1; column < cells_.columns; ++column) {
        const double x = corner.x + cell_ * double(column);
        canvas.line({x, corner.y}, {x, bottom}, palette::kGrid, 0.6);
      }
    }
    canvas.frame({corner.x, corner.y, grid_width(), grid_height()}, palette::kAxis, 0.8);
  }

  bool is_true(size_t row, size_t column) const {  // row and column may be one step outside
    return row < cells_.rows && column < cells_.columns &&
           cells_.truth[row * cells_.columns + column] != 0;
  }

  struct Pen {
    Colour colour;
    double thickness;
  };
  /// The outline of true cells. It runs between cells, and not between two true ones: their weights
  /// stay in view.
  void draw_truth(Canvas& canvas, Point corner, const Pen& pen) const {
    const double half = pen.thickness / 2;
    for (size_t row = 0; row < cells_.rows; ++row) {
      for (size_t column = 0; column < cells_.columns; ++column) {
        if (!is_true(row, column)) continue;
        const Rectangle area = place(corner, row, column);
        auto across = [&](double y) {
          canvas.fill({area.x - half, y - half, cell_ + 2 * half, 2 * half}, pen.colour);
        };
        auto down = [&](double x) {
          canvas.fill({x - half, area.y - half, 2 * half, cell_ + 2 * half}, pen.colour);
        };
        if (!is_true(row - 1, column)) across(area.y);
        if (!is_true(row + 1, column)) across(area.y + cell_);
        if (!is_true(row, column - 1)) down(area.x);
        if (!is_true(row, column + 1)) down(area.x + cell_);
      }
    }
  }

  void draw_labels(Canvas& canvas, Point corner) const {
    const auto every = size_t(std::max(1.0, std::ceil((size_ + 1) / cell_)));
    const double drop = size_ * 0.36;  // from the middle of a line of text to its baseline
    for (size_t row = 0; row < cells_.rows; row += every)
      canvas.text({corner.x - kLabelGap, corner.y + cell_ * (double(row) + 0.5) + drop},
                  fitted(cells_.row_labels[row], kMostLabel, size_),
                  {size_, palette::kInk, Anchor::End});
    const bool level = stand_ == LabelStand::Level;
    for (size_t column = 0; column < cells_.columns; column += every)
      canvas.text(
          {corner.x + cell_ * (double(column) + 0.5) + (level ? 0 : drop), corner.y - 6},
          fitted(cells_.column_labels[column], kMostLabel, size_),
          {size_, palette::kInk, level ? Anchor::Middle : Anchor::Start, false, degrees(stand_)});
  }

  void draw_scale(Canvas& canvas, Point origin) const {
    constexpr int kSteps = 80;
    const bool both = cells_.has_negative;
    const double step = kScaleWidth / kSteps;
    for (int i = 0; i < kSteps; ++i) {
      const double share = both ? 2.0 * i / (kSteps - 1) - 1 : double(i) / (kSteps - 1);
      // To the very end, and the next one over it: adjoining edges would show as stripes.
      canvas.fill({origin.x + step * i, origin.y, kScaleWidth - step * i, kScaleHeight},
                  shade(std::abs(share), share < 0));
    }
    canvas.frame({origin.x, origin.y, kScaleWidth, kScaleHeight}, palette::kAxis, 0.8);
    const TextStyle style{kSmallTextSize, palette::kQuietInk, Anchor::Middle};
    const ShadeScale& scale = cells_.scale;
    for (const double share : {0.0, 0.5, 1.0}) {
      const double value = both ? (2 * share - 1) * scale.ceiling : scale.weight(share);
      canvas.text({origin.x + share * kScaleWidth, origin.y + 22},
                  value == 0 ? "0" : format_(value), style);
    }
    canvas.text({origin.x + kScaleWidth + 10, origin.y + 9}, "weight",
                {kTextSize - 1, palette::kQuietInk});
    if (!scale.has_mark() || both) return;
    const double x = origin.x + scale.share(scale.equal) * kScaleWidth, y = origin.y + kScaleHeight;
    draw_equal_mark(canvas, {x, y});
  }

  MatrixCells cells_;
  ValueFormat format_;
  std::vector<LegendItem> legend_;
  double size_ = kTextSize - 1;
  double left_ = 0, top_ = 0;  // of the matrix itself
  double cell_ = kLargestCell;
  LabelStand stand_ = LabelStand::Slanted;
};

}  // namespace

std::unique_ptr<Block> matrix_block(const MapView& map) {
  if (map.weights.empty()) return empty_block();
  return std::make_unique<MatrixBlock>(map);
}

}  // namespace fovea
