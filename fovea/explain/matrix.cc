// A heat map: queries downwards, keys to the right, darker for more weight, a green frame around
// what is planted to matter. Large maps are reduced so that a cell stays visible, and labels are
// thinned out so that they never overlap.
#include <algorithm>
#include <cmath>

#include "fovea/explain/block.h"
#include "fovea/explain/labels.h"

namespace fovea {
namespace {

constexpr size_t kMostCells = 400;  // along a side
constexpr double kLargestCell = 30;
constexpr double kSmallestCell = 2;
constexpr double kMostLabel = 150;
constexpr double kGap = 8;
constexpr double kScaleWidth = 160;
constexpr double kSlant = -50;  // degrees of the column labels

class MatrixBlock : public Block {
 public:
  explicit MatrixBlock(const MapView& map)
      : cells_(reduce(map, kMostCells, kMostCells)), format_(cells_.largest) {
    for (const std::string& label : cells_.row_labels)
      row_label_width_ =
          std::max(row_label_width_, text_width(fitted(label, kMostLabel, size_), size_));
    for (const std::string& label : cells_.column_labels)
      column_label_width_ =
          std::max(column_label_width_, text_width(fitted(label, kMostLabel, size_), size_));
    const double slanted = column_label_width_ * std::cos(kSlant * M_PI / 180);
    const double room = kPictureWidth - row_label_width_ - kGap - slanted;
    const double count = static_cast<double>(std::max(cells_.columns, cells_.rows));
    cell_ = std::clamp(std::floor(room / count), kSmallestCell, kLargestCell);
    label_height_ = column_label_width_ * std::sin(-kSlant * M_PI / 180) + 14;
    make_legend();
    width_ = std::max(kPictureWidth, row_label_width_ + kGap + grid_width() + slanted);
    height_ = label_height_ + grid_height() + 14 + 30 + (legend_.empty() ? 0 : kLegendHeight);
  }

  void draw(Canvas& canvas, Point origin) const override {
    const Point corner{origin.x + row_label_width_ + kGap, origin.y + label_height_};
    draw_labels(canvas, corner);
    for (size_t row = 0; row < cells_.rows; ++row)
      for (size_t column = 0; column < cells_.columns; ++column)
        draw_cell(canvas, cells_.values[row * cells_.columns + column], place(corner, row, column));
    draw_grid(canvas, corner);
    // Frames last, so that the grid does not cut them.
    for (size_t row = 0; row < cells_.rows; ++row)
      for (size_t column = 0; column < cells_.columns; ++column)
        if (cells_.truth[row * cells_.columns + column] != 0)
          canvas.frame(place(corner, row, column), palette::kTruthEdge,
                       std::clamp(cell_ / 10, 0.5, 2.0));
    draw_scale(canvas, {corner.x, corner.y + grid_height() + 14});
    if (!legend_.empty())
      draw_legend(canvas, {corner.x, corner.y + grid_height() + 14 + 30}, legend_);
  }

 private:
  double grid_width() const { return cell_ * static_cast<double>(cells_.columns); }
  double grid_height() const { return cell_ * static_cast<double>(cells_.rows); }
  Rectangle place(Point corner, size_t row, size_t column) const {
    return {corner.x + cell_ * static_cast<double>(column),
            corner.y + cell_ * static_cast<double>(row), cell_, cell_};
  }

  void make_legend() {
    if (cells_.has_truth)
      legend_.push_back({LegendMark::Frame, palette::kTruthEdge, "planted: really matters"});
    if (const std::string text = reduction_text(cells_); !text.empty())
      legend_.push_back({LegendMark::Square, palette::kGrid, text});
  }

  /// White over orange to dark brown: lightness falls all the way, so that it also reads in grey.
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
    const double share = cells_.largest > 0 ? std::abs(value) / cells_.largest : 0;
    if (share > 0.002) canvas.fill(area, shade(share, value < 0));
  }

  void draw_grid(Canvas& canvas, Point corner) const {
    const double right = corner.x + grid_width(), bottom = corner.y + grid_height();
    if (cell_ >= 6) {
      for (size_t row = 1; row < cells_.rows; ++row) {
        const double y = corner.y + cell_ * static_cast<double>(row);
        canvas.line({corner.x, y}, {right, y}, palette::kGrid, 0.6);
      }
      for (size_t column = 1; column < cells_.columns; ++column) {
        const double x = corner.x + cell_ * static_cast<double>(column);
        canvas.line({x, corner.y}, {x, bottom}, palette::kGrid, 0.6);
      }
    }
    canvas.frame({corner.x, corner.y, grid_width(), grid_height()}, palette::kAxis, 0.8);
  }

  void draw_labels(Canvas& canvas, Point corner) const {
    const auto every = static_cast<size_t>(std::max(1.0, std::ceil((size_ + 2) / cell_)));
    for (size_t row = 0; row < cells_.rows; row += every)
      canvas.text({corner.x - kGap, corner.y + cell_ * (static_cast<double>(row) + 0.5) + 4},
                  fitted(cells_.row_labels[row], kMostLabel, size_),
                  {size_, palette::kInk, Anchor::End, false, 0});
    for (size_t column = 0; column < cells_.columns; column += every)
      canvas.text({corner.x + cell_ * (static_cast<double>(column) + 0.5) + 3, corner.y - 6},
                  fitted(cells_.column_labels[column], kMostLabel, size_),
                  {size_, palette::kInk, Anchor::Start, false, kSlant});
  }

  void draw_scale(Canvas& canvas, Point origin) const {
    constexpr int kSteps = 40;
    const bool both = cells_.has_negative;
    const double step = kScaleWidth / kSteps;
    for (int i = 0; i < kSteps; ++i) {
      const double share =
          both ? 2.0 * i / (kSteps - 1) - 1 : static_cast<double>(i) / (kSteps - 1);
      // To the very end, and the next one over it: adjoining edges would show as stripes.
      canvas.fill({origin.x + step * i, origin.y, kScaleWidth - step * i, 10},
                  shade(std::abs(share), share < 0));
    }
    canvas.frame({origin.x, origin.y, kScaleWidth, 10}, palette::kAxis, 0.8);
    const TextStyle style{kSmallTextSize, palette::kQuietInk, Anchor::Middle, false, 0};
    canvas.text({origin.x, origin.y + 22}, both ? format_(-cells_.largest) : "0", style);
    if (both) canvas.text({origin.x + kScaleWidth / 2, origin.y + 22}, "0", style);
    canvas.text({origin.x + kScaleWidth, origin.y + 22}, format_(cells_.largest), style);
  }

  MatrixCells cells_;
  ValueFormat format_;
  std::vector<LegendItem> legend_;
  double size_ = kTextSize - 1;
  double row_label_width_ = 0, column_label_width_ = 0, label_height_ = 0;
  double cell_ = kLargestCell;
};

}  // namespace

std::unique_ptr<Block> matrix_block(const MapView& map) {
  if (map.weights.empty()) return empty_block();
  return std::make_unique<MatrixBlock>(map);
}

}  // namespace fovea
