#include <algorithm>

#include "fovea/base/text.h"
#include "fovea/explain/draw/terminal_style.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

/// Text in columns: the first to the left, the others to the right.
Lines table_lines(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  Lines lines;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - display_width(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (i == 0 ? row[i] + blanks : blanks + row[i]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string interval_text(const FaithfulnessMeasure& measure) {
  if (!measure.interval) return "";
  return concat("[", format_number((*measure.interval)[0], 3), ", ",
                format_number((*measure.interval)[1], 3), "]");
}

}  // namespace

Lines terminal_faithfulness(const Faithfulness& judged, const TerminalStyle& style) {
  Lines lines{
      style.paint(Ink::Bold, style.label(concat("Does this picture show what the model used? ",
                                                judged.map, ": ", judged.trust),
                                         style.width()))};
  append(lines, style.wrap(Ink::Plain, style.safe(judged.verdict)));
  std::vector<std::vector<std::string>> rows{{"measure", "value", "95 %", "random", "better"}};
  for (const FaithfulnessMeasure& measure : judged.measures)
    rows.push_back({style.safe(measure.name),
                    measure.value ? format_number(*measure.value, 3) : "-", interval_text(measure),
                    measure.baseline ? format_number(*measure.baseline, 3) : "",
                    measure.better == "none" ? "" : measure.better});
  const Lines table = table_lines(rows);
  for (size_t i = 0; i < table.size(); ++i)
    lines.push_back(i == 0 ? style.paint(Ink::Quiet, table[i]) : table[i]);
  lines.push_back(style.paint(
      Ink::Quiet,
      style.safe(concat("output: ", judged.output, "; over ", format_count(judged.examples),
                        judged.examples == 1 ? " example" : " examples"))));
  append(lines, note_lines(judged.notes, style));
  return lines;
}

}  // namespace fovea
