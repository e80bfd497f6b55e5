#include "fovea/explain/picture.h"

#include <algorithm>
#include <cctype>

#include "fovea/core/error.h"
#include "fovea/explain/block.h"
#include "fovea/explain/json.h"
#include "fovea/explain/labels.h"
#include "fovea/explain/png_canvas.h"
#include "fovea/explain/svg_canvas.h"

namespace fovea {
namespace {

constexpr double kMargin = 24;
constexpr double kHeadingSize = 17;
constexpr double kMapTitleSize = 13;
constexpr double kNoteSize = 11;
constexpr double kNoteLine = 16;
constexpr double kBetweenFigures = 22;
constexpr size_t kNoteColumns = 120;

struct Section {
  std::string title, axes;
  std::unique_ptr<Block> block;
};

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

Section section_for(const Figure& figure, const PictureOptions& options) {
  const MapView& map = figure.map();
  Section section;
  std::vector<std::string> titles;
  for (const MapView* series : figure.series) titles.push_back(series->title);
  section.title = join(titles);
  section.axes = axes_text(map);
  section.block = block_for(figure, options);
  return section;
}

/// Draws a line of text and moves `y` below it.
void draw_heading(Canvas& canvas, const std::string& text, const TextStyle& style, double& y) {
  if (text.empty()) return;
  y += style.size;
  canvas.text({kMargin, y}, fitted(text, canvas.width() - 2 * kMargin, style.size, style.bold),
              style);
  y += style.size * 0.55;
}

double heading_height(const std::string& text, double size) {
  return text.empty() ? 0 : size * 1.55;
}

std::string ending_of(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return ending;
}

}  // namespace

std::unique_ptr<Canvas> draw(const Explanation& explanation, const CanvasFactory& make_canvas,
                             const PictureOptions& options) {
  std::vector<Section> sections;
  for (const Figure& figure : arrange(explanation))
    sections.push_back(section_for(figure, options));
  std::vector<std::string> notes;
  for (const std::string& note : notes_of(explanation))
    for (std::string& line : wrapped(printable(note), kNoteColumns))
      notes.push_back(std::move(line));

  double width = kPictureWidth;
  double height = 2 * kMargin + heading_height(explanation.title, kHeadingSize) +
                  heading_height(explanation.prediction, kTextSize + 1);
  for (const Section& section : sections) {
    width = std::max(width, section.block->width());
    height += kBetweenFigures + heading_height(section.title, kMapTitleSize) + 6 +
              section.block->height();
  }
  if (!notes.empty()) height += 14 + kNoteLine * static_cast<double>(notes.size());

  std::unique_ptr<Canvas> canvas = make_canvas(width + 2 * kMargin, height);
  canvas->fill({0, 0, canvas->width(), canvas->height()}, palette::kPaper);
  double y = kMargin;
  draw_heading(*canvas, explanation.title, {kHeadingSize, palette::kInk, Anchor::Start, true, 0},
               y);
  draw_heading(*canvas, explanation.prediction,
               {kTextSize + 1, palette::kQuietInk, Anchor::Start, false, 0}, y);
  for (const Section& section : sections) {
    y += kBetweenFigures;
    const double baseline = y + kMapTitleSize;
    draw_heading(*canvas, section.title, {kMapTitleSize, palette::kInk, Anchor::Start, true, 0}, y);
    const double after = kMargin + text_width(printable(section.title), kMapTitleSize, true) + 12;
    if (after + text_width(section.axes, kTextSize) < canvas->width() - kMargin)
      canvas->text({after, baseline}, section.axes,
                   {kTextSize, palette::kQuietInk, Anchor::Start, false, 0});
    y += 6;
    section.block->draw(*canvas, {kMargin, y});
    y += section.block->height();
  }
  y += notes.empty() ? 0 : 14;
  for (const std::string& note : notes) {
    y += kNoteLine;
    canvas->text({kMargin, y - 4}, note, {kNoteSize, palette::kQuietInk, Anchor::Start, false, 0});
  }
  return canvas;
}

void write_picture(const Explanation& explanation, const std::filesystem::path& path,
                   const PictureOptions& options) {
  const std::string ending = ending_of(path);
  if (ending == ".json") {
    write_explanation(path, explanation);
  } else if (ending == ".svg") {
    draw(explanation, make_svg_canvas, options)->save(path);
  } else if (ending == ".png") {
    draw(explanation, make_png_canvas, options)->save(path);
  } else {
    fail(ErrorKind::Unsupported, path.string(),
         ": pictures are written as .svg, .png or .json, found ",
         ending.empty() ? "no ending" : concat("the ending ", ending));
  }
}

}  // namespace fovea
