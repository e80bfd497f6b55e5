// The tokenisation of NIST's mteval-v13a, made for Western languages: most ASCII punctuation stands
// alone; a full stop or comma does unless it is inside a number; so does a dash after a digit.
#include <string_view>

#include "fovea/metrics/characters.h"
#include "fovea/metrics/translation.h"

namespace fovea {
namespace {

bool is_digit(int64_t c) {
  return c >= '0' && c <= '9';
}

bool is_stop(int64_t c) {
  return c == '.' || c == ',';
}

/// ASCII punctuation but for the apostrophe, and for the three that have rules of their own.
bool stands_alone(int64_t c) {
  constexpr std::string_view kSymbols = "!\"#$%&()*+/:;<=>?@[\\]^_`{|}~";
  return c < 0x80 && kSymbols.find(char(c)) != std::string_view::npos;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Goes through the text from left to right; where `fits` holds for two neighbours, puts blanks
/// before the first (`lead`), between them and after the second (`trail`), and goes on behind both.
template <class Fits>
Symbols spread_pairs(const Symbols& text, bool lead, bool trail, Fits fits) {
  Symbols result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !fits(text[i], text[i + 1])) {
      result.push_back(text[i]);
      continue;
    }
    if (lead) result.push_back(' ');
    result.insert(result.end(), {text[i], ' ', text[i + 1]});
    if (trail) result.push_back(' ');
    ++i;
  }
  return result;
}

}  // namespace

std::vector<std::string> tokenise_13a(std::string_view text) {
  std::string plain = replace_all(std::string(text), "<skipped>", "");
  plain = replace_all(std::move(plain), "-\n", "");  // a word hyphenated at a line's end
  // The ampersand is not last, so "&amp;lt;" becomes "<": as in the original.
  for (const auto& [entity, character] : {std::pair{"&quot;", "\""}, std::pair{"&amp;", "&"},
                                          std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}})
    plain = replace_all(std::move(plain), entity, character);

  Symbols spread = {' '};
  for (const int64_t c : code_points(plain)) {
    if (stands_alone(c))
      spread.insert(spread.end(), {' ', c, ' '});
    else
      spread.push_back(c);
  }
  spread.push_back(' ');
  spread = spread_pairs(spread, false, true,
                        [](int64_t a, int64_t b) { return !is_digit(a) && is_stop(b); });
  spread = spread_pairs(spread, true, false,
                        [](int64_t a, int64_t b) { return is_stop(a) && !is_digit(b); });
  spread = spread_pairs(spread, false, true,
                        [](int64_t a, int64_t b) { return is_digit(a) && b == '-'; });

  std::vector<std::string> tokens;
  for (const Symbols& word : split_words(spread)) tokens.push_back(utf8(word));
  return tokens;
}

}  // namespace fovea
