#include "fovea/explain/draw/picture.h"

#include "fovea/base/text.h"
#include "fovea/explain/draw/block.h"
#include "fovea/explain/draw/page.h"
#include "fovea/explain/draw/report.h"
#include "fovea/explain/record/json.h"

namespace fovea {
namespace {

std::unique_ptr<Block> block_for(const Figure& figure, const PictureOptions& options) {
  switch (figure.kind) {
    case FigureKind::Bars:
      return bars_block(figure.map(), options);
    case FigureKind::Panels:
      return panels_block(figure, options);
    case FigureKind::Matrix:
      return matrix_block(figure.map());
  }
  return empty_block();
}

}  // namespace

std::unique_ptr<Canvas> draw(const Explanation& explanation, const CanvasFactory& make_canvas,
                             const PictureOptions& options) {
  std::vector<std::string> lines = heading_lines(explanation);
  if (!explanation.input.empty()) lines.insert(lines.begin(), concat("Input: ", explanation.input));
  if (explanation.without)
    for (std::string& line : without_lines(*explanation.without)) lines.push_back(std::move(line));
  Page page{explanation.title, std::move(lines), {}, drawing_notes(explanation)};
  const Explanation drawn = mean_of_heads(explanation);
  for (const Figure& figure : arrange(drawn))
    page.sections.push_back({figure.title(), axes_text(figure.map()), block_for(figure, options),
                             verdict_sentence(explanation, figure.map())});
  return draw_page(page, make_canvas);
}

void write_picture(const Explanation& explanation, const std::filesystem::path& path,
                   const PictureOptions& options) {
  write_by_ending(
      path, {[&](const CanvasFactory& factory) { return draw(explanation, factory, options); },
             [&](const std::filesystem::path& place) { write_explanation(place, explanation); },
             [&](const std::filesystem::path& place) {
               write_report(place, {&explanation, 1});
             }});
}

}  // namespace fovea
