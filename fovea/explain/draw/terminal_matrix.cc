// A map as shaded cells. A matrix has its queries downwards, their labels close to the cells, and
// its keys to the right, their labels written downwards. Where the keys are the cells of a picture,
// every query has a tile of its own: the picture, shaded where it looks.
#include <algorithm>
#include <cmath>

#include "fovea/base/text.h"
#include "fovea/explain/draw/terminal_style.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr size_t kMostRows = 200;
constexpr size_t kTallestLabel = 16;  // column labels are written downwards
constexpr int kLevels = 4;
constexpr double kFaintest = 1.0 / 16;

int shade_level(double value, const ShadeScale& scale) {
  const double share = scale.share(value);
  // A row that looks everywhere a little must not seem to look nowhere.
  const int least = share >= kFaintest ? 1 : 0;
  return std::max(least, int(std::lround(share * kLevels)));
}

/// Whether some column label needs two columns for a letter.
bool has_wide_letters(const MapView& map, const TerminalStyle& style) {
  return std::ranges::any_of(map.key_labels, [&](const std::string& label) {
    const std::vector<std::string> letters = characters(style.safe(label));
    return std::ranges::any_of(letters,
                               [](const std::string& letter) { return display_width(letter) > 1; });
  });
}

/// Column labels written downwards, standing on the matrix.
Lines column_labels(const MatrixCells& cells, size_t cell_width, const TerminalStyle& style) {
  std::vector<std::vector<std::string>> stacks;
  size_t tallest = 0;
  for (const std::string& label : cells.column_labels) {
    std::vector<std::string> letters = characters(style.safe(label));
    if (letters.size() > kTallestLabel) {
      letters.resize(kTallestLabel - 1);
      letters.emplace_back(style.ellipsis().substr(0, style.ellipsis() == "..." ? 1 : 3));
    }
    tallest = std::max(tallest, letters.size());
    stacks.push_back(std::move(letters));
  }
  Lines lines(tallest);
  for (size_t line = 0; line < tallest; ++line) {
    for (const auto& stack : stacks) {
      const size_t skipped = tallest - stack.size();
      lines[line] += padded(line < skipped ? " " : stack[line - skipped], cell_width);
    }
  }
  return lines;
}

std::string cell_text(const MatrixCells& cells, size_t index, size_t cell_width,
                      const TerminalStyle& style) {
  const double value = cells.values[index];
  const bool is_true = cells.truth[index] != 0;
  const bool is_gap = std::isnan(value);
  const int level = is_gap ? 0 : shade_level(value, cells.scale);
  const Ink ink = is_gap ? Ink::Quiet : value < 0 ? Ink::Negative : Ink::Weight;
  const std::string shade = is_gap ? "x" : style.shade(level);
  if (cell_width == 1) return style.paint(is_true ? Ink::Truth : ink, shade);
  if (is_true) return style.paint(ink, shade) + style.paint(Ink::Truth, style.truth_mark());
  if (value < 0 && level > 0) return style.paint(ink, shade + "-");
  return style.paint(ink, shade + shade);
}

/// The shades with their weights, what the marks mean and how many weights a cell stands for.
Lines matrix_legend(const MatrixCells& cells, size_t cell_width, const TerminalStyle& style) {
  const ValueFormat format(cells.scale.ceiling);
  std::vector<LegendEntry> items;
  for (int level = 1; level <= kLevels; ++level)
    items.push_back(
        {Ink::Weight, style.shade(level), format(cells.scale.weight(double(level) / kLevels))});
  if (cells.scale.has_mark()) items.push_back({Ink::Quiet, "=", equal_text(cells.scale.equal)});
  // A cell of one column has no room for marks beside its shade: colour alone must tell.
  const bool has_marks = cell_width > 1;
  const std::string by_colour = has_marks ? "" : " (by colour)";
  if (cells.has_truth)
    items.push_back({Ink::Truth, has_marks ? style.truth_mark() : style.shade(kLevels),
                     concat("known to matter", by_colour)});
  if (cells.has_negative)
    items.push_back(
        {Ink::Negative, has_marks ? "-" : style.shade(kLevels), concat("negative", by_colour)});
  if (cells.has_gap) items.push_back({Ink::Quiet, "x", "no number"});
  Lines lines = legend_lines(items, style);
  append(lines, style.wrap(Ink::Quiet, pooling_text(cells)));
  return lines;
}

/// Tiles side by side, each under its label.
Lines tile_band(const MatrixCells& cells, size_t first, size_t count, const Axis& grid,
                const TerminalStyle& style) {
  const auto columns = size_t(grid.grid_columns);
  Lines lines(1 + size_t(grid.grid_rows));
  for (size_t tile = first; tile < first + count; ++tile) {
    lines[0] += padded(style.label(cells.row_labels[tile], 2 * columns + 1), 2 * columns + 3);
    for (size_t row = 0; row + 1 < lines.size(); ++row) {
      std::string& line = lines[row + 1];
      line += style.paint(Ink::Quiet, "|");
      for (size_t column = 0; column < columns; ++column)
        line += cell_text(cells, tile * cells.columns + row * columns + column, 2, style);
      line += style.paint(Ink::Quiet, "|") + " ";
    }
  }
  return lines;
}

}  // namespace

Lines terminal_tiles(const MapView& map, const Axis& grid, const TerminalStyle& style) {
  const size_t fit = style.width() / (2 * size_t(grid.grid_columns) + 3);
  if (fit == 0) return terminal_matrix(map, style);
  const MatrixCells cells = max_pool(map, kMostRows, map.keys());
  Lines lines;
  for (size_t first = 0; first < cells.rows; first += fit)
    append(lines, tile_band(cells, first, std::min(fit, cells.rows - first), grid, style));
  append(lines, matrix_legend(cells, 2, style));
  return lines;
}

Lines terminal_matrix(const MapView& map, const TerminalStyle& style) {
  size_t label_width = 0;
  for (const std::string& label : map.query_labels)
    label_width =
        std::max(label_width, display_width(style.label(visible_blanks(label), style.width() / 3)));
  const size_t room = style.width() - label_width - 1;
  // Wide letters do not fit into narrow cells: then rather fewer cells.
  size_t cell_width = map.keys() * 2 <= room || has_wide_letters(map, style) ? 2 : 1;
  const MatrixCells cells = max_pool(map, kMostRows, room / cell_width);
  if (cells.columns * 2 <= room) cell_width = 2;

  Lines lines;
  for (const std::string& line : column_labels(cells, cell_width, style))
    lines.push_back(std::string(label_width + 1, ' ') + line);
  for (size_t row = 0; row < cells.rows; ++row) {
    const std::string label = style.label(cells.row_labels[row], label_width);
    std::string line = std::string(label_width - display_width(label), ' ') + label + " ";
    for (size_t column = 0; column < cells.columns; ++column)
      line += cell_text(cells, row * cells.columns + column, cell_width, style);
    lines.push_back(line);
  }
  append(lines, matrix_legend(cells, cell_width, style));
  return lines;
}

}  // namespace fovea
