#include "fovea/core/json.h"

#include "fovea/core/error.h"
#include "fovea/core/file.h"

namespace fovea {

Json parse_json(const std::string& text, const std::string& where) {
  // The parser would take a zero byte for the end.
  const auto zero = std::find(text.begin(), text.end(), '\0');
  require(zero == text.end(), ErrorKind::BadData, where, ":",
          1 + std::count(text.begin(), zero, '\n'), ": holds a zero byte");
  try {
    return Json::parse(text, nullptr, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::parse_error& error) {
    // error.byte counts the offending character, which may itself be the line's end.
    const auto before =
        static_cast<std::ptrdiff_t>(std::min(error.byte - (error.byte > 0), text.size()));
    const auto line = 1 + std::count(text.begin(), text.begin() + before, '\n');
    fail(ErrorKind::BadData, where, ":", line, ": not valid JSON (", error.what(), ")");
  } catch (const nlohmann::json::exception& error) {  // a number too large for a double
    fail(ErrorKind::BadData, where, ": not valid JSON (", error.what(), ")");
  }
}

bool is_json_object(std::string_view line) {
  return trim(line).starts_with('{');
}

Json read_json_file(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

void write_json_file(const std::filesystem::path& path, const Json& value) {
  write_file(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace fovea
