#include "fovea/explain/draw/png_canvas.h"

#include "fovea/base/error.h"

#ifdef FOVEA_WITH_CAIRO

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/explain/draw/direction.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr double kMostPixels = 32767;  // cairo's limit for a side

// The font whose advances text_width() knows, then fonts with the characters that it lacks: cairo's
// simple text calls never look for another one themselves.
constexpr const char* kFamilies[] = {"DejaVu Sans",
                                     "Noto Sans CJK SC",
                                     "Noto Sans SC",
                                     "Source Han Sans SC",
                                     "WenQuanYi Zen Hei",
                                     "WenQuanYi Micro Hei",
                                     "Droid Sans Fallback",
                                     "Noto Sans Devanagari",
                                     "FreeSans",
                                     "Unifont",
                                     "sans-serif"};

/// What cairo's C callback needs: an exception must not pass through C code, so it is kept until
/// the call is over.
struct PngStream {
  AtomicFile& file;
  std::exception_ptr problem;
};

cairo_status_t write_png_bytes(void* closure, const unsigned char* bytes, unsigned int size) {
  auto* stream = static_cast<PngStream*>(closure);
  try {
    stream->file.write(bytes, size);
    return CAIRO_STATUS_SUCCESS;
  } catch (...) {
    stream->problem = std::current_exception();
    return CAIRO_STATUS_WRITE_ERROR;
  }
}

class PngCanvas : public Canvas {
 public:
  PngCanvas(double width, double height)
      : Canvas(width, height),
        surface_(
            cairo_image_surface_create(CAIRO_FORMAT_RGB24, int(std::ceil(width * kPixelsPerPoint)),
                                       int(std::ceil(height * kPixelsPerPoint))),
            cairo_surface_destroy),
        context_(cairo_create(surface_.get()), cairo_destroy) {
    check(cairo_surface_status(surface_.get()));
    cairo_scale(context_.get(), kPixelsPerPoint, kPixelsPerPoint);
    cairo_set_source_rgb(context_.get(), 1, 1, 1);
    cairo_paint(context_.get());
    // Advances rounded to pixels would make text wider than text_width() says.
    cairo_font_options_t* unhinted = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(unhinted, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(unhinted, CAIRO_HINT_STYLE_NONE);
    cairo_set_font_options(context_.get(), unhinted);
    cairo_font_options_destroy(unhinted);
  }

  void fill(const Rectangle& rectangle, Colour colour) override {
    use(colour);
    cairo_rectangle(context_.get(), rectangle.x, rectangle.y, rectangle.width, rectangle.height);
    cairo_fill(context_.get());
  }

  void line(Point from, Point to, Colour colour, double thickness) override {
    use(colour);
    cairo_set_line_width(context_.get(), thickness);
    cairo_move_to(context_.get(), from.x, from.y);
    cairo_line_to(context_.get(), to.x, to.y);
    cairo_stroke(context_.get());
  }

  void polygon(const std::vector<Point>& corners, Colour colour) override {
    use(colour);
    cairo_new_path(context_.get());  // text leaves its end as the place to go on from
    for (const Point& corner : corners) cairo_line_to(context_.get(), corner.x, corner.y);
    cairo_close_path(context_.get());
    cairo_fill(context_.get());
  }

  void text(Point at, std::string_view text, const TextStyle& style) override {
    use(style.colour);
    const std::vector<Run> runs = font_runs(visual_order(printable_label(text)), style);
    double width = 0;
    for (const Run& run : runs) width += run.width;
    cairo_save(context_.get());
    cairo_translate(context_.get(), at.x, at.y);
    cairo_rotate(context_.get(), style.rotation * M_PI / 180);
    double x = style.anchor == Anchor::Start    ? 0
               : style.anchor == Anchor::Middle ? -width / 2
                                                : -width;
    for (const Run& run : runs) {
      select(run.family, style);
      cairo_move_to(context_.get(), x, 0);
      cairo_show_text(context_.get(), run.text.c_str());
      x += run.width;
    }
    cairo_restore(context_.get());
  }

  void save(const std::filesystem::path& path) override {
    check(cairo_status(context_.get()));
    AtomicFile file(path);
    PngStream stream{file, nullptr};
    const cairo_status_t status =
        cairo_surface_write_to_png_stream(surface_.get(), write_png_bytes, &stream);
    if (stream.problem) std::rethrow_exception(stream.problem);
    check(status);
    file.commit();
  }

 private:
  static void check(cairo_status_t status) {
    require(status == CAIRO_STATUS_SUCCESS, ErrorKind::Internal,
            "cairo could not draw the picture: ", cairo_status_to_string(status));
  }
  /// Text of one font.
  struct Run {
    std::string text;
    const char* family;
    double width;
  };
  std::vector<Run> font_runs(const std::string& text, const TextStyle& style) {
    select(kFamilies[0], style);
    if (has_glyphs(text)) return {{text, kFamilies[0], advance(text)}};
    std::vector<Run> runs;
    for (const std::string& character : characters(text)) {
      const char* family = family_for(character, style);
      if (runs.empty() || runs.back().family != family) runs.push_back({"", family, 0});
      runs.back().text += character;
    }
    for (Run& run : runs) {
      select(run.family, style);
      run.width = advance(run.text);
    }
    return runs;
  }
  /// The first font that has the character; the usual one, with its box, where none has.
  const char* family_for(const std::string& character, const TextStyle& style) {
    for (const char* family : kFamilies) {
      select(family, style);
      if (has_glyphs(character)) return family;
    }
    return kFamilies[0];
  }
  void select(const char* family, const TextStyle& style) {
    cairo_select_font_face(context_.get(), family, CAIRO_FONT_SLANT_NORMAL,
                           style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(context_.get(), style.size);
  }
  double advance(const std::string& text) {
    cairo_text_extents_t extents;
    cairo_text_extents(context_.get(), text.c_str(), &extents);
    return extents.x_advance;
  }
  /// Whether the selected font has every character of the text.
  bool has_glyphs(const std::string& text) {
    cairo_glyph_t* glyphs = nullptr;
    int count = 0;
    check(cairo_scaled_font_text_to_glyphs(cairo_get_scaled_font(context_.get()), 0, 0,
                                           text.c_str(), int(text.size()), &glyphs, &count, nullptr,
                                           nullptr, nullptr));
    const bool has_all = std::all_of(glyphs, glyphs + count,
                                     [](const cairo_glyph_t& glyph) { return glyph.index != 0; });
    cairo_glyph_free(glyphs);
    return has_all;
  }
  void use(Colour colour) {
    cairo_set_source_rgb(context_.get(), colour.red / 255.0, colour.green / 255.0,
                         colour.blue / 255.0);
  }
  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
  std::unique_ptr<cairo_t, decltype(&cairo_destroy)> context_;
};

}  // namespace

std::unique_ptr<Canvas> make_png_canvas(double width, double height) {
  require(std::max(width, height) * kPixelsPerPoint <= kMostPixels, ErrorKind::Unsupported,
          "the picture of ", width, " x ", height,
          " points is too large for a .png file; write .svg");
  return std::make_unique<PngCanvas>(width, height);
}

}  // namespace fovea

#else

namespace fovea {

std::unique_ptr<Canvas> make_png_canvas(double width, double height) {
  fail(ErrorKind::Unsupported, "this build cannot write .png files: it was made without cairo; ",
       "build with -DFOVEA_WITH_CAIRO=ON, or write .svg");
}

}  // namespace fovea

#endif
