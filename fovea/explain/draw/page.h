// A page: a heading, figures one under the other, notes at the bottom. Explanations and charts are
// laid out by the same code, so that they look like pages of one book.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/explain/draw/block.h"
#include "fovea/explain/draw/canvas.h"

namespace fovea {

struct Section {
  std::string title, axes;  // either may be empty
  std::unique_ptr<Block> block;
  std::string remark = "";  // below it
};

struct Page {
  std::string title;
  std::vector<std::string> lines;  // below the title
  std::vector<Section> sections;
  std::vector<std::string> notes;
};

/// Asks `make_canvas` for a canvas that holds the page, and draws on it.
std::unique_ptr<Canvas> draw_page(const Page& page, const CanvasFactory& make_canvas);

/// What a picture can be written as.
struct Writers {
  std::function<std::unique_ptr<Canvas>(const CanvasFactory&)> draw;
  std::function<void(const std::filesystem::path&)> write_json;
  std::function<void(const std::filesystem::path&)> write_html = {};  // charts have none
};

/// .svg, .png, .json or, where there is a writer, .html by the ending of `path`; Unsupported for
/// any other.
void write_by_ending(const std::filesystem::path& path, const Writers& writers);

}  // namespace fovea
