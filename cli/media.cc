#include "cli/media.h"

#include <cstdio>
#include <filesystem>

#include "fovea/core/base64.h"
#include "fovea/core/error.h"
#include "fovea/core/file.h"

namespace fovea::cli {

namespace fs = std::filesystem;

namespace {

constexpr uintmax_t kMostBytes = 1u << 30;

/// "image/png" for .png; the ending only tells people what it is.
std::string type_of(const fs::path& path, const std::string& wanted) {
  std::string ending = path.extension().string();
  if (ending.empty()) return "application/octet-stream";
  for (char& letter : ending)
    if (letter >= 'A' && letter <= 'Z') letter = char(letter - 'A' + 'a');
  const std::string kind = wanted.substr(0, wanted.find('/'));
  return concat(kind, "/", ending == ".jpg" ? "jpeg" : ending.substr(1));
}

/// Letters, digits and -._~ stay; everything else becomes %XX.
std::string percent_encoded(const std::string& text) {
  std::string encoded;
  for (const char byte : text) {
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') ||
                       std::string("-._~").find(byte) != std::string::npos;
    char shown[4];
    std::snprintf(shown, sizeof shown, "%%%02X", static_cast<unsigned char>(byte));
    encoded += plain ? std::string(1, byte) : std::string(shown);
  }
  return encoded;
}

std::string url_of(const fs::path& path, const std::string& wanted) {
  std::error_code error;
  require(fs::exists(path, error), ErrorKind::NotFound, path.string(), ": no such file");
  require(fs::is_regular_file(path, error) && fs::file_size(path, error) <= kMostBytes,
          ErrorKind::BadData, path.string(), ": is no file of at most ",
          format_count(int64_t(kMostBytes)), " bytes");
  return concat("data:", type_of(path, wanted), ";name=", percent_encoded(path.filename().string()),
                ";base64,", base64_encode(read_file(path)));
}

bool is_url(const std::string& text) {
  return text.starts_with("data:");
}

}  // namespace

std::string with_media(const std::string& line, const Json& input_schema) {
  const Json properties = input_schema.value("properties", Json::object());
  std::string first;  // property that is a medium
  Json object = is_json_object(line) ? parse_json(line, "input") : Json();
  for (const auto& [name, property] : properties.items()) {
    if (!property.is_object() || !property.contains("contentMediaType")) continue;
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

}  // namespace fovea::cli
