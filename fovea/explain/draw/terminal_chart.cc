// A line chart as text. A character holds two by four braille dots, so that even a flat slope
// shows; markers and intervals are drawn over the lines.
#include <algorithm>
#include <cmath>

#include "fovea/base/text.h"
#include "fovea/explain/draw/chart.h"
#include "fovea/explain/draw/terminal_style.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr int kLeastRows = 15;
constexpr const char* kCountsRowLabel = "n";
constexpr const char* kMarks[] = {"●", "□", "▲", "◇", "×", "■"};
constexpr const char* kLetters[] = {"o", "x", "*", "+", "@", "%"};
constexpr Ink kInks[] = {Ink::Weight, Ink::Negative, Ink::Truth, Ink::LightWeight};

std::string series_mark(size_t series, const TerminalStyle& style) {
  return style.unicode() ? kMarks[series % std::size(kMarks)]
                         : kLetters[series % std::size(kLetters)];
}

Ink series_ink(size_t series) {
  return kInks[series % std::size(kInks)];
}

std::string interval_mark(const TerminalStyle& style) {
  return style.unicode() ? "│" : "|";
}

/// Characters of the plot: dots of lines below, marks above.
class Plot {
 public:
  Plot(size_t columns, size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}

  void dot(double x, double y, Ink ink) {
    const auto column = size_t(std::clamp(x, 0.0, 2.0 * columns_ - 1));
    const auto row = size_t(std::clamp(y, 0.0, 4.0 * rows_ - 1));
    // The bits of a braille character go down its left column, then down its right one; the lowest
    // pair of dots came later and has the highest bits.
    static constexpr int kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = cells_[row / 4 * columns_ + column / 2];
    cell.dots |= kBits[row % 4][column % 2];
    cell.ink = ink;
  }
  void line(double from_x, double from_y, double to_x, double to_y, Ink ink) {
    const double steps = std::max({std::abs(to_x - from_x), std::abs(to_y - from_y), 1.0});
    for (double step = 0; step <= steps; ++step)
      dot(from_x + (to_x - from_x) * step / steps, from_y + (to_y - from_y) * step / steps, ink);
  }
  void mark(size_t column, size_t row, const std::string& text, Ink ink) {
    Cell& cell = cells_[row * columns_ + column];
    cell.mark = text;
    cell.ink = ink;
  }
  std::string row(size_t row, const TerminalStyle& style) const {
    std::string line;
    for (size_t column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[row * columns_ + column];
      if (!cell.mark.empty()) {
        line += style.paint(cell.ink, cell.mark);
      } else if (cell.dots != 0) {
        line += style.paint(cell.ink, style.unicode() ? braille(cell.dots) : ".");
      } else {
        line += ' ';
      }
    }
    return line;
  }

 private:
  struct Cell {
    int dots = 0;
    std::string mark;
    Ink ink = Ink::Plain;
  };
  /// U+2800 and the dots, as UTF-8.
  static std::string braille(int dots) {
    return {'\xE2', char(0xA0 | dots >> 6), char(0x80 | (dots & 0x3F))};
  }

  size_t columns_, rows_;
  std::vector<Cell> cells_;
};

class TerminalChart {
 public:
  TerminalChart(const LineChart& chart, const TerminalStyle& style)
      : chart_(chart), style_(style), axis_(value_axis(chart)) {
    for (int tick = 0; tick <= axis_.steps(); ++tick)
      margin_ = std::max(margin_, format_number(axis_.value(tick)).size());
    columns_ = style.width() - margin_ - 2;
    // Ticks fall on whole rows.
    rows_per_step_ = (kLeastRows + axis_.steps() - 1) / axis_.steps();
    rows_ = size_t(rows_per_step_ * axis_.steps()) + 1;
  }

  Lines lines() const {
    Lines lines = legend();
    if (!chart_.y_label.empty())
      lines.push_back(style_.paint(Ink::Quiet, style_.label(chart_.y_label, style_.width())));
    const Plot plot = drawn();
    for (size_t row = 0; row < rows_; ++row) {
      const int from_top = int(row);
      const bool is_tick = from_top % rows_per_step_ == 0;
      const int tick = axis_.steps() - from_top / rows_per_step_;
      lines.push_back(concat(beside(is_tick ? format_number(axis_.value(tick)) : ""),
                             style_.unicode() ? (is_tick ? "┤" : "│") : (is_tick ? "+" : "|"),
                             plot.row(row, style_)));
    }
    lines.push_back(base_line());
    add_ticks(lines);
    if (!chart_.x_label.empty()) {
      const std::string label = style_.label(chart_.x_label, columns_);
      lines.push_back(std::string(margin_ + 2 + (columns_ - display_width(label)) / 2, ' ') +
                      style_.paint(Ink::Quiet, label));
    }
    return lines;
  }

 private:
  /// A text in the margin, then one space.
  std::string beside(const std::string& text) const {
    return std::string(margin_ - text.size(), ' ') + style_.paint(Ink::Quiet, text) + " ";
  }
  double slot() const { return double(columns_) / double(chart_.x_ticks.size()); }
  size_t centre(size_t tick) const { return size_t(slot() * (double(tick) + 0.5)); }
  /// Points of one bucket stand side by side where there is room, so that none covers another.
  size_t column(size_t series, size_t tick) const {
    const size_t count = chart_.series.size();
    const size_t shift = slot() >= 3.0 * double(count) ? 2 : slot() > double(count) ? 1 : 0;
    const size_t shifted = centre(tick) + shift * series;
    const size_t back = shift * (count - 1) / 2;
    return std::min(shifted > back ? shifted - back : 0, columns_ - 1);
  }
  size_t row(double value) const {
    return size_t(std::lround((1 - axis_.share(value)) * double(rows_ - 1)));
  }

  Plot drawn() const {
    Plot plot(columns_, rows_);
    auto x = [&](size_t series, size_t tick) { return 2 * double(column(series, tick)) + 1; };
    auto y = [&](double value) { return 4 * (1 - axis_.share(value)) * double(rows_ - 1) + 2; };
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      const std::vector<double>& values = chart_.series[i].values;
      for (size_t tick = 1; tick < values.size(); ++tick)
        if (std::isfinite(values[tick - 1]) && std::isfinite(values[tick]))
          plot.line(x(i, tick - 1), y(values[tick - 1]), x(i, tick), y(values[tick]),
                    series_ink(i));
    }
    for (size_t i = 0; i < chart_.series.size(); ++i) mark_intervals(plot, i);
    for (size_t i = 0; i < chart_.series.size(); ++i)
      for (size_t tick = 0; tick < chart_.x_ticks.size(); ++tick)
        if (const double value = chart_.series[i].values[tick]; std::isfinite(value))
          plot.mark(column(i, tick), row(value), series_mark(i, style_), series_ink(i));
    return plot;
  }

  void mark_intervals(Plot& plot, size_t index) const {
    const LineSeries& series = chart_.series[index];
    for (size_t tick = 0; tick < series.half_intervals.size(); ++tick) {
      const double value = series.values[tick], half = series.half_intervals[tick];
      if (!std::isfinite(value) || !std::isfinite(half) || half <= 0) continue;
      for (size_t at = row(value + half); at <= row(value - half); ++at)
        plot.mark(column(index, tick), at, interval_mark(style_), series_ink(index));
    }
  }

  Lines legend() const {
    std::vector<LegendEntry> entries;
    for (size_t i = 0; i < chart_.series.size(); ++i)
      entries.push_back({series_ink(i), series_mark(i, style_), chart_.series[i].name});
    if (has_intervals(chart_)) entries.push_back({Ink::Quiet, interval_mark(style_), "interval"});
    return legend_lines(entries, style_);
  }

  std::string base_line() const {
    std::string line = std::string(margin_ + 1, ' ') + (style_.unicode() ? "└" : "+");
    std::vector<bool> ticks(columns_, false);
    for (size_t tick = 0; tick < chart_.x_ticks.size(); ++tick) ticks[centre(tick)] = true;
    for (const bool tick : ticks)
      line += style_.unicode() ? (tick ? "┴" : "─") : (tick ? "+" : "-");
    return line;
  }

  /// Ticks and counts under their buckets; every second, third, … where not all fit.
  void add_ticks(Lines& lines) const {
    Lines ticks, counts;
    for (const std::string& tick : chart_.x_ticks) ticks.push_back(style_.label(tick, columns_));
    for (const int64_t count : chart_.counts) counts.push_back(format_count(count));
    size_t widest = 0;
    for (const Lines* texts : {&ticks, &counts})
      for (const std::string& text : *texts) widest = std::max(widest, display_width(text));
    const auto every = size_t(std::max(1.0, std::ceil(double(widest + 1) / slot())));
    lines.push_back(beside("") + " " + centred(ticks, every));
    if (!counts.empty())
      lines.push_back(beside(kCountsRowLabel) + " " +
                      style_.paint(Ink::Quiet, centred(counts, every)));
  }

  std::string centred(const Lines& texts, size_t every) const {
    std::string line;
    size_t used = 0;
    for (size_t i = 0; i < texts.size(); i += every) {
      const size_t width = display_width(texts[i]);
      size_t start = centre(i) > width / 2 ? centre(i) - width / 2 : 0;
      start =
          std::max(std::min(start, columns_ - std::min(width, columns_)), used == 0 ? 0 : used + 1);
      if (start + width > columns_) break;
      line += std::string(start - used, ' ') + texts[i];
      used = start + width;
    }
    return line;
  }

  const LineChart& chart_;
  const TerminalStyle& style_;
  ValueAxis axis_;
  size_t margin_ = 1, columns_ = 0, rows_ = 0;
  int rows_per_step_ = 1;
};

}  // namespace

std::string render_chart_terminal(const LineChart& chart, const TerminalOptions& options) {
  check_sizes(chart);
  const TerminalStyle style(options);
  Lines lines;
  if (!chart.title.empty())
    lines.push_back(style.paint(Ink::Bold, style.label(chart.title, style.width())));
  const bool is_empty = chart.x_ticks.empty() || chart.series.empty();
  append(lines, is_empty ? Lines{style.paint(Ink::Quiet, "This chart is empty.")}
                         : TerminalChart(chart, style).lines());
  append(lines, note_lines(chart.notes, style));
  return to_text(lines);
}

}  // namespace fovea
