#include "fovea/explain/draw/terminal.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/text.h"
#include "fovea/explain/draw/terminal_style.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr int kNarrowest = 40;

/// The axis of a picture's cells, or none.
const Axis* find_grid(const MapView& map, const Explanation& explanation) {
  for (const Axis& axis : explanation.axes)
    if (axis.name == map.key_axis && axis.grid_rows > 0 &&
        axis.grid_rows * axis.grid_columns + int64_t(axis.special.size()) == int64_t(map.keys()))
      return &axis;
  return nullptr;
}

/// What is seen of the cells; where they look at each other, too, by the special units alone: a
/// class token.
MapView over_cells(const MapView& map, const Axis& grid) {
  const size_t first = grid.special.size();  // key of the first cell
  if (first == 0) return map;
  const size_t queries = map.query_axis == map.key_axis ? first : map.queries();
  const auto cut = [&](auto& list) {
    if (list.empty()) return;
    std::remove_reference_t<decltype(list)> kept;
    for (size_t query = 0; query < queries; ++query)
      kept.insert(kept.end(), list.begin() + std::ptrdiff_t(query * map.keys() + first),
                  list.begin() + std::ptrdiff_t((query + 1) * map.keys()));
    list = std::move(kept);
  };
  MapView view = map;
  for (auto* list : {&view.weights, &view.spread, &view.low, &view.high}) cut(*list);
  cut(view.truth);
  view.query_labels.resize(queries);
  view.key_labels.erase(view.key_labels.begin(), view.key_labels.begin() + std::ptrdiff_t(first));
  return view;
}

Lines lines_for(const Figure& figure, const Explanation& explanation, const TerminalStyle& style) {
  if (figure.map().weights.empty()) return {style.paint(Ink::Quiet, "This map is empty.")};
  switch (figure.kind) {
    case FigureKind::Bars:
      return terminal_bars(figure.map(), style);
    case FigureKind::Panels:
      return terminal_panels(figure, style);
    case FigureKind::Matrix:
      if (const Axis* grid = find_grid(figure.map(), explanation))
        return terminal_tiles(over_cells(figure.map(), *grid), *grid, style);
      return terminal_matrix(figure.map(), style);
  }
  return {};
}

std::string title_line(const Figure& figure, const TerminalStyle& style) {
  const std::string title = style.label(figure.title(), style.width());
  std::string axes;
  if (!figure.map().query_axis.empty())
    axes = style.safe(concat(figure.map().query_axis, style.arrow(), figure.map().key_axis));
  std::string line = style.paint(Ink::Bold, title);
  if (!axes.empty() && display_width(title) + 2 + display_width(axes) <= style.width())
    line += "  " + style.paint(Ink::Quiet, axes);
  return line;
}

}  // namespace

TerminalStyle::TerminalStyle(const TerminalOptions& options)
    : options_(options), width_(size_t(std::max(options.width, kNarrowest))) {}

std::string TerminalStyle::paint(Ink ink, const std::string& text) const {
  if (!options_.colour || ink == Ink::Plain || text.empty()) return text;
  static constexpr const char* kCodes[] = {"", "1", "2", "38;5;208", "38;5;222", "38;5;75", "32"};
  return concat("\x1b[", kCodes[size_t(ink)], "m", text, "\x1b[0m");
}

std::string TerminalStyle::safe(const std::string& text) const {
  const std::string clean = printable_label(text);
  return options_.unicode ? clean : ascii_only(clean);
}

std::string TerminalStyle::label(const std::string& text, size_t width) const {
  return shorten(safe(text), width, ellipsis());
}

Lines TerminalStyle::wrap(Ink ink, const std::string& text) const {
  Lines lines = wrapped(text, width());
  for (std::string& line : lines) line = paint(ink, line);
  return lines;
}

std::string TerminalStyle::bar(double share, size_t width, Ink ink) const {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double length = std::clamp(share, 0.0, 1.0) * double(width);
  std::string drawn;
  size_t used = 0;
  if (options_.unicode) {
    const auto eighths = size_t(std::lround(length * 8));
    for (size_t i = 0; i < eighths / 8; ++i) drawn += "█";
    drawn += kEighths[eighths % 8];
    used = (eighths + 7) / 8;
  } else {
    const auto halves = size_t(std::lround(length * 2));
    drawn = std::string(halves / 2, '#') + (halves % 2 == 1 ? "-" : "");
    used = (halves + 1) / 2;
  }
  return paint(ink, drawn) + std::string(width - used, ' ');
}

std::string TerminalStyle::shade(int level) const {
  static constexpr const char* kBlocks[] = {" ", "░", "▒", "▓", "█"};
  static constexpr const char* kLetters[] = {" ", ".", "+", "#", "@"};
  return options_.unicode ? kBlocks[level] : kLetters[level];
}

namespace {

/// What was taken away, and the answer before.
}  // namespace

Lines legend_lines(const std::vector<LegendEntry>& entries, const TerminalStyle& style) {
  Lines lines;
  size_t used = 0;
  for (const LegendEntry& entry : entries) {
    const std::string text = style.label(entry.text, style.width() - 4);
    const size_t width = display_width(entry.mark) + 1 + display_width(text);
    if (lines.empty() || used + 2 + width > style.width()) {
      lines.emplace_back();
      used = 0;
    }
    lines.back() += concat(used > 0 ? "  " : "", style.paint(entry.ink, entry.mark), " ", text);
    used += (used > 0 ? 2 : 0) + width;
  }
  return lines;
}

Lines note_lines(const std::vector<std::string>& notes, const TerminalStyle& style) {
  Lines lines;
  for (const std::string& note : notes)
    append(lines, style.wrap(Ink::Quiet, style.safe(concat("note: ", note))));
  return lines;
}

void append(Lines& lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

std::string to_text(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

std::string render_terminal(const Explanation& explanation, const TerminalOptions& options) {
  const TerminalStyle style(options);
  Lines lines;
  if (!explanation.title.empty())
    lines.push_back(style.paint(Ink::Bold, style.label(explanation.title, style.width())));
  for (const std::string& line : heading_lines(explanation))
    lines.push_back(style.label(line, style.width()));
  if (explanation.without)
    for (const std::string& line : without_lines(*explanation.without))
      append(lines, style.wrap(Ink::Plain, style.safe(line)));
  const Explanation drawn = mean_of_heads(explanation);
  for (const Figure& figure : arrange(drawn)) {
    if (!lines.empty()) lines.emplace_back();
    lines.push_back(title_line(figure, style));
    append(lines, lines_for(figure, drawn, style));
  }
  for (const Faithfulness& judged : explanation.faithfulness) {
    lines.emplace_back();
    append(lines, terminal_faithfulness(judged, style));
  }
  const Lines notes = note_lines(drawing_notes(explanation), style);
  if (!notes.empty()) lines.emplace_back();
  lines.insert(lines.end(), notes.begin(), notes.end());
  return to_text(lines);
}

}  // namespace fovea
