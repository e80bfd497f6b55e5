// A strict little check that a text is well-formed XML, enough for what SvgCanvas writes.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/text.h"

namespace fovea {

inline std::string entity_problem(const std::string& text) {
  for (size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    const std::string name = text.substr(at + 1, text.find(';', at) - at - 1);
    bool known = false;
    for (const char* entity : {"amp", "lt", "gt", "quot", "#39"}) known = known || name == entity;
    if (!known) return "unescaped & before '" + text.substr(at, 20) + "'";
  }
  return "";
}

/// What is wrong, or "".
inline std::string xml_problem(const std::string& document) {
  if (valid_utf8_prefix(document) != document.size()) return "not UTF-8";
  for (const char byte : document)
    if (static_cast<unsigned char>(byte) < 0x20 && byte != '\n') return "a control character";
  std::vector<std::string> open;
  size_t roots = 0;
  for (size_t at = 0; at < document.size();) {
    if (document[at] != '<') {
      const size_t end = std::min(document.find('<', at), document.size());
      const std::string text = document.substr(at, end - at);
      if (text.find_first_of(">\"'") != std::string::npos) return "unescaped: " + text;
      if (open.empty() && text.find_first_not_of('\n') != std::string::npos)
        return "stray: " + text;
      if (const std::string problem = entity_problem(text); !problem.empty()) return problem;
      at = end;
      continue;
    }
    bool quoted = false;
    size_t end = at + 1;
    for (; end < document.size() && (quoted || document[end] != '>'); ++end) {
      if (document[end] == '"') quoted = !quoted;
      if (document[end] == '<') return "a tag inside a tag";
    }
    if (end == document.size()) return "a tag without end";
    const std::string tag = document.substr(at + 1, end - at - 1);
    at = end + 1;
    if (const std::string problem = entity_problem(tag); !problem.empty()) return problem;
    if (tag[0] == '?') continue;
    const std::string name =
        tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "unexpected </" + name + ">";
      open.pop_back();
    } else if (tag.back() != '/') {
      if (open.empty() && ++roots > 1) return "two roots";
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace fovea
