#include "cli/config_file.h"

#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"

namespace fovea::cli {

namespace {

constexpr int64_t kMostConfigBytes = int64_t{1} << 30;

/// Where a comment ends that begins at `at`; `at` where none does.
size_t end_of_comment(std::string_view text, size_t at) {
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) == "/*") return std::min(text.find("*/", at + 2), text.size() - 2) + 2;
  return at;
}

/// Commas before } and ] become blanks, so that lines and columns stay.
void blank_trailing_commas(std::string& text) {
  size_t comma = std::string::npos;  // the last one, while only blanks and comments follow it
  for (size_t at = 0; at < text.size(); ++at) {
    if (const size_t end = end_of_comment(text, at); end > at) {
      at = end - 1;
    } else if (text[at] == '"') {
      comma = std::string::npos;
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
    } else if (text[at] == ',') {
      comma = at;
    } else if (text[at] == '}' || text[at] == ']') {
      if (comma != std::string::npos) text[comma] = ' ';
      comma = std::string::npos;
    } else if (!std::isspace(static_cast<unsigned char>(text[at]))) {
      comma = std::string::npos;
    }
  }
}

}  // namespace

Json read_config_file(const std::filesystem::path& path) {
  std::string text = read_text(path, kMostConfigBytes).content;
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  const std::string where = path.string(), ending = path.extension().string();
  const std::string_view content = trim(text);
  require(!content.empty(), ErrorKind::BadData, where,
          ": is empty; a config is a JSON object such as {\"training\": {\"epochs\": 20}}");
  const bool yaml = ending == ".yaml" || ending == ".yml";
  const bool other = yaml || ending == ".toml" || ending == ".ini";
  require(content.find_first_of(other ? "{" : "{[/") == 0, ErrorKind::BadData, where, ": is ",
          yaml                ? "YAML"
          : ending == ".toml" ? "TOML"
                              : "no JSON",
          "; a config is a JSON object such as {\"training\": {\"epochs\": 20}}",
          yaml ? concat(". To convert it: python3 -c \"import json, yaml; print(json.dumps("
                        "yaml.safe_load(open('",
                        where, "')), indent=2))\" > ", path.stem().string(), ".json")
               : "");
  blank_trailing_commas(text);
  return parse_json(text, where);
}

}  // namespace fovea::cli
