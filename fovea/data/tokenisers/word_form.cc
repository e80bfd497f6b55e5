#include "fovea/data/tokenisers/word_form.h"

#include <algorithm>

#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

namespace {

/// The code point that begins at `at`, which moves behind it.
char32_t next_code(std::string_view text, size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  char32_t code = lead & (0x3f >> more);
  for (int i = 0; i < more; ++i) code = code << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
  return code;
}

void append_utf8(char32_t code, std::string& text) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  put((0xff ^ 0xff >> (more + 1)) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) put(0x80 | (code >> (6 * i) & 0x3f));
}

}  // namespace

std::string word_form(std::string_view word, bool lowercase) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(word.begin(), word.end(), is_ascii)) {
    std::string form(word);
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    if (lowercase) std::transform(form.begin(), form.end(), form.begin(), lower);
    return form;
  }
  if (!lowercase) return to_nfc(word);
  std::u32string lower;
  for (size_t at = 0; at < word.size();) append_lower(next_code(word, at), lower);
  std::string form;
  for (const char32_t code : lower) append_utf8(code, form);
  return to_nfc(form);
}

}  // namespace fovea
