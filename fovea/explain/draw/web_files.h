// The files of web/, inside the library: the report and the server's page need nothing from disk.
#pragma once

#include <span>
#include <string_view>

namespace fovea {

struct WebFile {
  std::string_view path;  // below web/: "views/matrix.js"
  std::string_view type;  // "text/javascript; charset=utf-8"
  std::string_view content;
};

std::span<const WebFile> web_files();

/// Null where there is no such file.
const WebFile* find_web_file(std::string_view path);

}  // namespace fovea
