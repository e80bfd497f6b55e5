#include "fovea/base/data_url.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "fovea/base/base64.h"
#include "fovea/base/text.h"

namespace fovea {

namespace {

constexpr std::string_view kStart = "data:", kName = ";name=", kMark = ";base64,";

/// ASCII letters, digits and -._~ stay; everything else becomes %XX.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  std::string encoded;
  for (const char byte : text) {
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(byte));
    encoded += kPlain.find(byte) != std::string_view::npos ? std::string(1, byte) : code;
  }
  return encoded;
}

/// As it is where it would not be one line of UTF-8.
std::string decoded_name(std::string_view text) {
  const std::string decoded = percent_decode(text);
  const bool is_line = std::none_of(decoded.begin(), decoded.end(), [](char byte) {
    return (byte >= 0 && byte < ' ') || byte == '\x7f';
  });
  return is_line && valid_utf8_prefix(decoded) == decoded.size() ? decoded : std::string(text);
}

}  // namespace

std::string percent_decode(std::string_view text) {
  std::string decoded;
  for (size_t at = 0; at < text.size(); ++at) {
    unsigned code = 0;
    const char *first = text.data() + at + 1, *last = first + 2;
    const bool is_code = text[at] == '%' && at + 2 < text.size() &&
                         std::from_chars(first, last, code, 16).ptr == last;
    decoded += is_code ? char(code) : text[at];
    at += is_code ? 2 : 0;
  }
  return decoded;
}

std::optional<DataUrl> split_data_url(std::string_view url) {
  const size_t mark = url.find(kMark);
  if (!url.starts_with(kStart) || mark == std::string_view::npos) return std::nullopt;
  const std::string_view head = url.substr(kStart.size(), mark - kStart.size());
  DataUrl parts{std::string(head.substr(0, head.find(';'))), "", url.substr(mark + kMark.size())};
  if (const size_t name = head.find(kName); name != std::string_view::npos) {
    const std::string_view rest = head.substr(name + kName.size());
    parts.name = decoded_name(rest.substr(0, rest.find(';')));
  }
  return parts;
}

std::string data_url(const std::string& type, const std::string& name, std::string_view bytes) {
  const std::string named = name.empty() ? "" : concat(kName, percent_encoded(name));
  return concat(kStart, type, named, kMark, base64_encode(bytes));
}

}  // namespace fovea
