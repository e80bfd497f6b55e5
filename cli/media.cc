#include "cli/media.h"

#include <filesystem>

#include "fovea/base/data_url.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea::cli {

namespace fs = std::filesystem;

namespace {

constexpr uintmax_t kMostMediumBytes = 1u << 30;

/// "image/png" for .png; the ending only tells people what it is.
std::string type_of(const fs::path& path, const std::string& wanted) {
  std::string ending = path.extension().string();
  if (ending.empty()) return "application/octet-stream";
  for (char& letter : ending)
    if (letter >= 'A' && letter <= 'Z') letter = char(letter - 'A' + 'a');
  const std::string kind = wanted.substr(0, wanted.find('/'));
  return concat(kind, "/", ending == ".jpg" ? "jpeg" : ending.substr(1));
}

std::string url_of(const fs::path& path, const std::string& wanted) {
  std::error_code error;
  require(fs::exists(path, error), ErrorKind::NotFound, path.string(), ": no such file");
  require(!fs::is_directory(path, error), ErrorKind::BadData, path.string(),
          ": is a folder; name its files, for example ", (path / "*").string());
  require(fs::is_regular_file(path, error) && fs::file_size(path, error) <= kMostMediumBytes,
          ErrorKind::BadData, path.string(), ": is no file of at most ",
          format_count(int64_t(kMostMediumBytes)), " bytes");
  return data_url(type_of(path, wanted), path.filename().string(), read_file(path));
}

bool is_url(const std::string& text) {
  return text.starts_with("data:");
}

/// A picture or a sound. A text has a type too where it is long: text/plain.
bool is_medium(const Json& property) {
  return property.is_object() && property.contains("contentMediaType") &&
         !property["contentMediaType"].get<std::string>().starts_with("text/");
}

}  // namespace

bool takes_media(const Json& input_schema) {
  const Json properties = input_schema.value("properties", Json::object());
  for (const auto& [name, property] : properties.items())
    if (is_medium(property)) return true;
  return false;
}

std::string with_media(const std::string& line, const Json& input_schema) {
  const Json properties = input_schema.value("properties", Json::object());
  std::string first;  // property that is a medium
  Json object = is_json_object(line) ? parse_json(line, "input") : Json();
  for (const auto& [name, property] : properties.items()) {
    if (!is_medium(property)) continue;
    const std::string wanted = property["contentMediaType"];
    if (first.empty()) first = name;
    if (object.is_null() && first == name && !trim(line).empty() && !is_url(line))
      return Json{{name, url_of(std::string(trim(line)), wanted)}}.dump();
    if (object.is_object() && object.contains(name) && object[name].is_string() &&
        !is_url(object[name]))
      object[name] = url_of(object[name].get<std::string>(), wanted);
  }
  return first.empty() || object.is_null() ? line : object.dump();
}

std::string path_of_medium(const std::string& line, const Json& input_schema) {
  std::string path(trim(line));
  if (is_json_object(line)) {
    const Json object = parse_json(line, "input"),
               properties = input_schema.value("properties", Json::object());
    path.clear();
    for (const auto& [name, property] : properties.items())
      if (path.empty() && is_medium(property) && object.contains(name) && object[name].is_string())
        path = object[name];
  }
  return is_url(path) ? "" : path;
}

}  // namespace fovea::cli
