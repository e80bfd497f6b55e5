#include "fovea/data/tokenisers/word_form.h"

#include <algorithm>

#include "fovea/base/code_points.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

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
  for (size_t at = 0; at < word.size();) append_lower(next_code_point(word, at), lower);
  std::string form;
  for (const char32_t code : lower) append_code_point(code, form);
  return to_nfc(form);
}

}  // namespace fovea
