#include "fovea/explain/draw/page.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/explain/draw/png_canvas.h"
#include "fovea/explain/draw/svg_canvas.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr double kMargin = 24;
constexpr double kNarrowest = 420;  // of the content
constexpr double kHeadingSize = 17;
constexpr double kLineSize = kTextSize + 1;
constexpr double kMapTitleSize = 13;
constexpr double kNoteSize = 11;
constexpr double kNoteLine = 16;
constexpr double kBetweenFigures = 22;
constexpr double kBeforeAxes = 12;

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

/// As wide as the widest figure; small figures stand on a small page, unless a heading needs more.
double content_width(const Page& page) {
  double headings = text_width(printable_label(page.title), kHeadingSize, true);
  for (const std::string& line : page.lines)
    headings = std::max(headings, text_width(printable_label(line), kLineSize));
  double width = page.sections.empty() ? kPictureWidth : kNarrowest;
  for (const Section& section : page.sections) {
    headings =
        std::max(headings, text_width(printable_label(section.title), kMapTitleSize, true) +
                               kBeforeAxes + text_width(printable_label(section.axes), kTextSize));
    width = std::max(width, section.block->width());
  }
  return std::max(width, std::min(headings, kPictureWidth));
}

std::vector<std::string> note_lines(const std::vector<std::string>& notes, double width) {
  const auto columns = size_t(width / (kNoteSize * 0.62));
  std::vector<std::string> lines;
  for (const std::string& note : notes)
    if (!note.empty())
      for (std::string& line : wrapped(printable_label(note), columns))
        lines.push_back(std::move(line));
  return lines;
}

void draw_notes(Canvas& canvas, const std::vector<std::string>& lines, double& y) {
  for (const std::string& line : lines) {
    y += kNoteLine;
    canvas.text({kMargin, y - 4}, line, {kNoteSize, palette::kQuietInk});
  }
}

void draw_section(Canvas& canvas, const Section& section, double width, double& y) {
  y += kBetweenFigures;
  const double baseline = y + kMapTitleSize;
  draw_heading(canvas, section.title, {kMapTitleSize, palette::kInk, Anchor::Start, true}, y);
  const double after =
      kMargin + text_width(printable_label(section.title), kMapTitleSize, true) + kBeforeAxes;
  if (after + text_width(section.axes, kTextSize) < canvas.width() - kMargin)
    canvas.text({after, baseline}, section.axes, {kTextSize, palette::kQuietInk});
  y += 6;
  section.block->draw(canvas, {kMargin, y});
  y += section.block->height();
  draw_notes(canvas, note_lines({section.remark}, width), y);
}

}  // namespace

std::unique_ptr<Canvas> draw_page(const Page& page, const CanvasFactory& make_canvas) {
  const double width = content_width(page);
  const std::vector<std::string> notes = note_lines(page.notes, width);
  double height = 2 * kMargin + heading_height(page.title, kHeadingSize);
  for (const std::string& line : page.lines) height += heading_height(line, kLineSize);
  for (const Section& section : page.sections)
    height += kBetweenFigures + heading_height(section.title, kMapTitleSize) + 6 +
              section.block->height() +
              kNoteLine * double(note_lines({section.remark}, width).size());
  if (!notes.empty()) height += 14 + kNoteLine * double(notes.size());

  std::unique_ptr<Canvas> canvas = make_canvas(width + 2 * kMargin, height);
  canvas->fill({0, 0, canvas->width(), canvas->height()}, palette::kPaper);
  double y = kMargin;
  draw_heading(*canvas, page.title, {kHeadingSize, palette::kInk, Anchor::Start, true}, y);
  for (const std::string& line : page.lines)
    draw_heading(*canvas, line, {kLineSize, palette::kQuietInk}, y);
  for (const Section& section : page.sections) draw_section(*canvas, section, width, y);
  y += notes.empty() ? 0 : 14;
  draw_notes(*canvas, notes, y);
  return canvas;
}

void write_by_ending(const std::filesystem::path& path, const Writers& writers) {
  const std::string ending = small_ending(path);
  if (ending == ".json") {
    writers.write_json(path);
  } else if (ending == ".svg") {
    writers.draw(make_svg_canvas)->save(path);
  } else if (ending == ".png") {
    writers.draw(make_png_canvas)->save(path);
  } else if (ending == ".html" && writers.write_html) {
    writers.write_html(path);
  } else {
    fail(ErrorKind::Unsupported, path.string(), ": pictures are written as .svg, .png",
         writers.write_html ? ", .json or .html" : " or .json", ", found ",
         ending.empty() ? "no ending" : concat("the ending ", ending));
  }
}

}  // namespace fovea
