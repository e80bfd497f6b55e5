// How terminal pictures look: colours, marks and bar characters, for terminals of any ability.
// Internal to the terminal pictures.
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/draw/terminal.h"

namespace fovea {

enum class Ink { Plain, Bold, Quiet, Weight, LightWeight, Negative, Truth };

/// Lines of one figure, without its title.
using Lines = std::vector<std::string>;
void append(Lines& lines, const Lines& more);

class TerminalStyle {
 public:
  explicit TerminalStyle(const TerminalOptions& options);

  size_t width() const { return width_; }
  bool unicode() const { return options_.unicode; }
  const PictureOptions& picture() const { return options_.picture; }

  /// `text` in a colour, where there are colours.
  std::string paint(Ink ink, const std::string& text) const;
  /// A label or sentence from elsewhere, made safe for this terminal.
  std::string safe(const std::string& text) const;
  /// safe(), at most `width` columns.
  std::string label(const std::string& text, size_t width) const;
  /// Lines as wide as the terminal, in a colour.
  Lines wrap(Ink ink, const std::string& text) const;
  /// A bar of `share` (0..1) of `width` columns, padded to it, in a colour.
  std::string bar(double share, size_t width, Ink ink) const;
  /// One of five shades; 0 is blank.
  std::string shade(int level) const;

  std::string truth_mark() const { return options_.unicode ? "✓" : "*"; }
  std::string plus_minus() const { return options_.unicode ? "±" : "+-"; }
  std::string arrow() const { return options_.unicode ? " → " : " -> "; }
  std::string ellipsis() const { return options_.unicode ? "…" : "..."; }

 private:
  TerminalOptions options_;
  size_t width_;
};

/// A mark and what it means.
struct LegendEntry {
  Ink ink;
  std::string mark, text;
};
/// As many to a line as fit.
Lines legend_lines(const std::vector<LegendEntry>& entries, const TerminalStyle& style);
/// "note: …", wrapped.
Lines note_lines(const std::vector<std::string>& notes, const TerminalStyle& style);
/// The lines without trailing spaces, each ended.
std::string to_text(const Lines& lines);

Lines terminal_bars(const MapView& map, const TerminalStyle& style);
Lines terminal_panels(const Figure& figure, const TerminalStyle& style);
Lines terminal_matrix(const MapView& map, const TerminalStyle& style);
/// Keys are the cells of `grid`.
Lines terminal_tiles(const MapView& map, const Axis& grid, const TerminalStyle& style);
/// With its own heading.
Lines terminal_faithfulness(const Faithfulness& judged, const TerminalStyle& style);

}  // namespace fovea
