#include "fovea/explain/draw/report.h"

#include "fovea/base/base64.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/web_files.h"
#include "fovea/explain/record/json.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

/// JSON inside a script element: "</script>" and "<!--" must not appear in it.
std::string script_json(const Json& value) {
  const std::string text = value.dump();
  std::string safe;
  safe.reserve(text.size());
  for (const char character : text) {
    if (character == '<')
      safe += "\\u003c";
    else
      safe += character;
  }
  return safe;
}

/// Every module under the name by which the others import it.
std::string import_map() {
  Json imports = Json::object();
  for (const WebFile& file : web_files())
    if (file.path.ends_with(".js") && !file.path.starts_with("page"))
      imports[concat("fovea/", file.path)] =
          concat("data:text/javascript;base64,", base64_encode(file.content));
  return concat("<script type=\"importmap\">", script_json({{"imports", imports}}), "</script>");
}

/// `text` with the one occurrence of `mark` replaced.
void fill(std::string& text, std::string_view mark, const std::string& with) {
  const size_t place = text.find(mark);
  require(place != std::string::npos, ErrorKind::Internal, "web/report.html has no ", mark);
  text.replace(place, mark.size(), with);
}

std::string file_content(std::string_view path) {
  const WebFile* file = find_web_file(path);
  require(file != nullptr, ErrorKind::Internal, "web/", path, " is not in this build");
  return std::string(file->content);
}

}  // namespace

std::string report_html(std::span<const Explanation> explanations) {
  require(!explanations.empty(), ErrorKind::InvalidArgument, "a report needs an explanation");
  ChunkWriter chunks;
  Json list = Json::array();
  for (const Explanation& explanation : explanations)
    list.push_back(explanation_to_json(explanation, Exactness::Shown, chunks));
  std::string data = concat("<script type=\"application/json\" id=\"explanation\">",
                            script_json(list.size() == 1 ? list[0] : list), "</script>\n");
  for (size_t i = 0; i < chunks.chunks().size(); ++i)
    data += concat("<script type=\"text/plain\" id=\"chunk-", i, "\">", chunks.chunks()[i],
                   "</script>\n");
  const std::string& title = explanations.front().title;
  std::string html = file_content("report.html");
  fill(html, "<!--title-->", title.empty() ? "Fovea report" : escape_markup(valid_utf8(title)));
  fill(html, "<!--style-->", file_content("style.css"));
  fill(html, "<!--importmap-->", import_map());
  fill(html, "<!--explanation-->", data);
  return html;
}

void write_report(const std::filesystem::path& path, std::span<const Explanation> explanations) {
  write_file(path, report_html(explanations));
}

}  // namespace fovea
