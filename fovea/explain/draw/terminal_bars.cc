#include <algorithm>
#include <cmath>

#include "fovea/base/text.h"
#include "fovea/explain/draw/terminal_style.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr size_t kShortestBar = 3;

struct BarTexts {
  Lines labels, values;
  size_t label_width = 0, value_width = 0;
  double largest = 0;
};

/// Spaces before `text`, up to `width` columns.
std::string right_aligned(const std::string& text, size_t width) {
  const size_t used = display_width(text);
  return used >= width ? text : std::string(width - used, ' ') + text;
}

BarTexts bar_texts(const MapView& map, const BarSelection& selection, const TerminalStyle& style) {
  BarTexts texts;
  double widest_spread = 0;
  for (const size_t key : selection.keys) {
    if (!std::isfinite(map.weight(0, key))) continue;
    texts.largest = std::max(texts.largest, std::abs(map.weight(0, key)));
    widest_spread = std::max(widest_spread, map.deviation(0, key));
  }
  const ValueFormat format(std::max(texts.largest, widest_spread));
  std::vector<std::string> names;
  for (const size_t key : selection.keys)
    names.push_back(style.safe(visible_blanks(map.key_labels[key])));
  names = distinct_starts(names, style.width() / 3, style.ellipsis());
  for (size_t i = 0; i < selection.keys.size(); ++i) {
    const size_t key = selection.keys[i];
    texts.labels.push_back(shorten(names[i], style.width() / 3, style.ellipsis()));
    std::string value = format(map.weight(0, key));
    if (!map.spread.empty() && std::isfinite(map.weight(0, key)))
      value = concat(value, " ", style.plus_minus(), " ", format(map.deviation(0, key)));
    texts.values.push_back(value);
    texts.label_width = std::max(texts.label_width, display_width(texts.labels.back()));
    texts.value_width = std::max(texts.value_width, display_width(value));
  }
  return texts;
}

std::string truth_legend(const TerminalStyle& style) {
  return style.paint(Ink::Truth, style.truth_mark()) + style.paint(Ink::Quiet, " known to matter");
}

constexpr const char* kShareLegend =
    "Each row of weights is shown as shares of its magnitudes; a minus marks a negative weight.";

/// One panel as lines of exactly `width` columns.
class Panel {
 public:
  Panel(const Figure& figure, size_t query, const TerminalStyle& style)
      : figure_(figure),
        query_(query),
        style_(style),
        rows_(panel_rows(figure, query, style.picture())) {
    for (const size_t key : rows_.selection.keys)
      labels_.push_back(style.safe(visible_blanks(figure.map().key_labels[key])));
  }

  Lines lines(size_t width) const {
    const MapView& map = figure_.map();
    const size_t count = figure_.series.size();
    Lines labels = distinct_starts(labels_, width / 4, style_.ellipsis());
    size_t label_width = 1;
    for (std::string& label : labels) {
      label = shorten(label, width / 4, style_.ellipsis());
      label_width = std::max(label_width, display_width(label));
    }
    const size_t taken = 2 + label_width + count * (2 + 1 + kValueWidth);
    const size_t bar = std::max((width > taken ? width - taken : 0) / count, kShortestBar);

    Lines lines;
    auto add = [&](const std::string& text, Ink ink) {
      const std::string shown = style_.label(text, width);
      lines.push_back(style_.paint(ink, shown) + std::string(width - display_width(shown), ' '));
    };
    add(map.query_labels[query_], Ink::Bold);
    if (count > 1) lines.push_back(header(width, label_width, bar));
    const BarSelection& selection = rows_.selection;
    for (size_t i = 0; i < selection.keys.size(); ++i)
      lines.push_back(row(selection.keys[i], padded(labels[i], label_width), {width, bar}));
    if (selection.hidden > 0) add(hidden_text(selection, style_.ellipsis()), Ink::Quiet);
    return lines;
  }

 private:
  static constexpr size_t kValueWidth = 5;
  struct Widths {
    size_t panel, bar;
  };

  std::string header(size_t width, size_t label_width, size_t bar) const {
    std::string line(2 + label_width, ' ');
    for (const MapView* series : figure_.series)
      line +=
          "  " + padded(style_.label(series->title, bar + 1 + kValueWidth), bar + 1 + kValueWidth);
    return style_.paint(Ink::Quiet, padded(line, width));
  }

  std::string row(size_t key, const std::string& label, const Widths& widths) const {
    const bool is_true = figure_.is_true(query_, key);
    std::string line =
        (is_true ? style_.paint(Ink::Truth, style_.truth_mark()) : " ") + " " + label;
    size_t used = 2 + display_width(label);
    for (size_t i = 0; i < rows_.series.size(); ++i) {
      const double height = rows_.series[i].heights[key];
      const bool is_number = std::isfinite(height);
      const bool is_negative = figure_.series[i]->weight(query_, key) < 0;
      const Ink ink = i + 1 == rows_.series.size() ? Ink::Weight : Ink::LightWeight;
      const std::string value =
          is_number ? ValueFormat(10)(is_negative ? -height : height) : "none";
      line += "  " + style_.bar(is_number ? height : 0, widths.bar, ink) + " " +
              right_aligned(value, kValueWidth);
      used += 2 + widths.bar + 1 + kValueWidth;
    }
    return line + std::string(widths.panel > used ? widths.panel - used : 0, ' ');
  }

  const Figure& figure_;
  size_t query_;
  const TerminalStyle& style_;
  PanelRows rows_;
  Lines labels_;
};

}  // namespace

Lines terminal_bars(const MapView& map, const TerminalStyle& style) {
  const BarSelection selection = select_bars({magnitudes(map, 0)}, style.picture());
  const BarTexts texts = bar_texts(map, selection, style);
  const bool has_truth = std::ranges::any_of(map.truth, [](char mark) { return mark != 0; });
  const size_t taken = (has_truth ? 2 : 0) + texts.label_width + 2 + texts.value_width + 1;
  const size_t bar = style.width() > taken + kShortestBar ? style.width() - taken : kShortestBar;
  Lines lines;
  for (size_t i = 0; i < selection.keys.size(); ++i) {
    const double weight = map.weight(0, selection.keys[i]);
    const double share =
        std::isfinite(weight) && texts.largest > 0 ? std::abs(weight) / texts.largest : 0;
    std::string line;
    if (has_truth)
      line = map.is_true(0, selection.keys[i]) ? style.paint(Ink::Truth, style.truth_mark()) + " "
                                               : std::string("  ");
    line += padded(texts.labels[i], texts.label_width) + "  " + style.bar(share, bar, Ink::Weight) +
            " " + right_aligned(texts.values[i], texts.value_width);
    lines.push_back(line);
  }
  if (selection.hidden > 0)
    lines.push_back(style.paint(Ink::Quiet, hidden_text(selection, style.ellipsis())));
  if (has_truth) lines.push_back(truth_legend(style));
  return lines;
}

Lines terminal_panels(const Figure& figure, const TerminalStyle& style) {
  constexpr size_t kMostPanels = 24;
  constexpr size_t kGap = 4;
  const size_t narrowest = 8 + 14 * figure.series.size();
  const size_t shown = std::min(figure.map().queries(), kMostPanels);
  const size_t room = std::max<size_t>(1, (style.width() + kGap) / (narrowest + kGap));
  const size_t columns = std::min(room, shown);
  const size_t width = (style.width() - kGap * (columns - 1)) / columns;

  Lines lines;
  for (size_t first = 0; first < shown; first += columns) {
    std::vector<Lines> row;
    size_t tallest = 0;
    for (size_t query = first; query < std::min(first + columns, shown); ++query) {
      row.push_back(Panel(figure, query, style).lines(width));
      tallest = std::max(tallest, row.back().size());
    }
    if (first > 0) lines.emplace_back();
    for (size_t i = 0; i < tallest; ++i) {
      std::string line;
      for (size_t column = 0; column < row.size(); ++column)
        line += (column > 0 ? std::string(kGap, ' ') : std::string()) +
                (i < row[column].size() ? row[column][i] : std::string(width, ' '));
      lines.push_back(line);
    }
  }
  if (shown < figure.map().queries())
    lines.push_back(style.paint(
        Ink::Quiet, concat(style.ellipsis(), " and ", figure.map().queries() - shown, " more")));
  if (figure.has_truth()) lines.push_back(truth_legend(style));
  if (std::ranges::any_of(figure.series, [](const MapView* map) { return shows_shares(*map); }))
    append(lines, style.wrap(Ink::Quiet, kShareLegend));
  return lines;
}

}  // namespace fovea
