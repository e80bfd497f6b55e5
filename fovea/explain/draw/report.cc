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

/// Every module under the name by which the others import it. Of the folders that only one kind of
/// document needs, those of `document`.
std::string import_map(std::string_view document) {
  Json imports = Json::object();
  for (const WebFile& file : web_files()) {
    bool is_wanted = file.path.ends_with(".js");
    for (const std::string_view folder : {"page", "rows", "board", "embeddings"})
      is_wanted = is_wanted && (folder == document || !file.path.starts_with(folder));
    if (is_wanted)
      imports[concat("fovea/", file.path)] =
          concat("data:text/javascript;base64,", base64_encode(file.content));
  }
  return concat("<script type=\"importmap\">", script_json({{"imports", imports}}), "</script>");
}

/// `text` with the one occurrence of `mark` replaced.
void fill(std::string& text, std::string_view mark, const std::string& with) {
  const size_t place = text.find(mark);
  require(place != std::string::npos, ErrorKind::Internal, "the document has no ", mark);
  text.replace(place, mark.size(), with);
}

Json list_of(std::span<const Explanation> explanations, ChunkWriter& chunks) {
  Json list = Json::array();
  for (const Explanation& explanation : explanations)
    list.push_back(explanation_to_json(explanation, Exactness::Shown, chunks));
  return list;
}

std::string json_element(std::string_view id, const Json& value) {
  return concat("<script type=\"application/json\" id=\"", id, "\">", script_json(value),
                "</script>\n");
}

std::string chunk_elements(const ChunkWriter& chunks) {
  std::string elements;
  for (size_t i = 0; i < chunks.chunks().size(); ++i)
    elements += concat("<script type=\"text/plain\" id=\"chunk-", i, "\">", chunks.chunks()[i],
                       "</script>\n");
  return elements;
}

std::string file_content(std::string_view path) {
  const WebFile* file = find_web_file(path);
  require(file != nullptr, ErrorKind::Internal, "web/", path, " is not in this build");
  return std::string(file->content);
}

/// A file of web/ with title, looks, modules and data put in.
struct Document {
  std::string_view path;
  std::string_view folder;  // import_map()
  std::string title;
  std::string style;
  std::string_view mark;  // where the data go
  std::string data;
};

std::string html_of(const Document& document) {
  std::string html = file_content(document.path);
  fill(html, "<!--title-->", escape_markup(valid_utf8(document.title)));
  fill(html, "<!--style-->", document.style);
  fill(html, "<!--importmap-->", import_map(document.folder));
  fill(html, document.mark, document.data);
  return html;
}

}  // namespace

std::string report_html(std::span<const Explanation> explanations) {
  require(!explanations.empty(), ErrorKind::InvalidArgument, "a report needs an explanation");
  ChunkWriter chunks;
  const Json list = list_of(explanations, chunks);
  const std::string& title = explanations.front().title;
  return html_of(
      {"report.html", "report", title.empty() ? "Fovea report" : title, file_content("style.css"),
       "<!--explanation-->",
       json_element("explanation", list.size() == 1 ? list[0] : list) + chunk_elements(chunks)});
}

std::string rows_html(const RowsRecord& record, std::span<const Explanation> explanations) {
  require(explanations.size() == record.explained.size(), ErrorKind::Internal,
          "explanations of other rows than the record says");
  ChunkWriter chunks;
  const Json list = list_of(explanations, chunks);
  const Json rows = rows_to_json(record, chunks);
  return html_of(
      {"rows.html", "rows", concat("Rows of ", record.run.empty() ? record.task : record.run),
       file_content("style.css"), "<!--rows-->",
       json_element("rows", rows) + json_element("explanation", list) + chunk_elements(chunks)});
}

std::string board_html(const std::string& title, const Json& runs,
                       std::span<const std::pair<std::string, Json>> looks) {
  std::string data = json_element("runs", runs);
  for (const auto& [id, explanation] : looks) data += json_element(id, explanation);
  return html_of({"board/file.html", "board", title,
                  file_content("style.css") + file_content("board/board.css"), "<!--runs-->",
                  data});
}

std::string embeddings_html(const Json& points) {
  const std::string run = points.value("run", "");
  return html_of({"embeddings/file.html", "embeddings",
                  concat("Embeddings of ", run.empty() ? points.value("task", "") : run),
                  file_content("style.css"), "<!--embeddings-->",
                  json_element("embeddings", points)});
}

void write_report(const std::filesystem::path& path, std::span<const Explanation> explanations) {
  write_file(path, report_html(explanations));
}

}  // namespace fovea
