#include "fovea/data/tokenisers/hugging_face/regex.h"

#ifdef FOVEA_WITH_ICU
#include <unicode/regex.h>
#endif

#include <algorithm>
#include <charconv>

#include "fovea/base/error.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea::hugging_face {

namespace {

/// {n}, {n,}, {,m} or {n,m} at the front of `text`.
struct Interval {
  size_t length = 0;  // of the text; 0: there is none
  int least = 0;
  std::string most;  // with its comma
};

Interval read_interval(std::string_view text) {
  const size_t end = text.find('}');
  if (end == text.npos || end < 2) return {};
  const std::string_view inside = text.substr(1, end - 1);
  const size_t comma = std::min(inside.find(','), inside.size());
  const auto is_number = [](std::string_view digits) {
    return digits.size() < 7 && digits.find_first_not_of("0123456789") == digits.npos;
  };
  const std::string_view least = inside.substr(0, comma);
  const std::string_view most = comma < inside.size() ? inside.substr(comma + 1) : "";
  if (inside == "," || !is_number(least) || !is_number(most)) return {};
  Interval found{end + 1, 0, std::string(inside.substr(comma))};
  std::from_chars(least.data(), least.data() + least.size(), found.least);
  return found;
}

/// The escape at the front of `rest` in ICU's syntax; `at` moves to its last character.
std::string translate_escape(std::string_view rest, size_t& at) {
  const std::string word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}", hexadecimal = "0-9a-fA-F";
  ++at;
  switch (rest[1]) {
    case 's':
      return "\\p{White_Space}";
    case 'S':
      return "\\P{White_Space}";
    case 'w':
      return concat("[", word, "]");
    case 'W':
      return concat("[^", word, "]");
    case 'h':
      return concat("[", hexadecimal, "]");
    case 'H':
      return concat("[^", hexadecimal, "]");
    case 'p':
    case 'P':
      break;
    default:
      return std::string(rest.substr(0, 2));
  }
  const size_t end = rest.find('}');
  if (!rest.substr(2).starts_with('{') || end == rest.npos) return std::string(rest.substr(0, 2));
  at += end - 1;
  if (rest[3] != '^') return std::string(rest.substr(0, end + 1));
  return concat(rest[1] == 'p' ? "\\P{" : "\\p{", rest.substr(4, end - 3));  // not the property
}

/// The brace at the front of `rest`: a number of times, or a plain character.
std::string translate_brace(std::string_view rest, size_t& at, std::string_view expression,
                            const std::string& where) {
  const Interval interval = read_interval(rest);
  if (interval.length == 0) return "\\{";
  at += interval.length - 1;
  if (!rest.substr(interval.length).starts_with('+'))
    return concat("{", interval.least, interval.most, "}");
  require(interval.least <= 1, ErrorKind::Unsupported, where, ": the regular expression '",
          expression, "' repeats ", rest.substr(0, interval.length),
          " once more; write it as a group");
  ++at;
  return interval.least == 0 ? "*" : "+";  // (?:x{n,m})+
}

}  // namespace

std::string translate_regex(std::string_view expression, const std::string& where) {
  constexpr size_t kLongestExpression = 1 << 16;  // bytes
  require(expression.size() <= kLongestExpression, ErrorKind::BadData, where,
          ": the regular expression has ", format_count(int64_t(expression.size())),
          " bytes, expected at most ", format_count(kLongestExpression));
  std::string written;
  int brackets = 0;  // open ones
  for (size_t at = 0; at < expression.size(); ++at) {
    const char sign = expression[at];
    const std::string_view rest = expression.substr(at);
    const size_t class_end = rest.find(":]");
    if (sign == '\\' && rest.size() > 1) {
      written += translate_escape(rest, at);
    } else if (brackets > 0 && rest.starts_with("[:") && class_end != rest.npos) {  // [[:alpha:]]
      written += rest.substr(0, class_end + 2);
      at += class_end + 1;
    } else if (brackets > 0 || sign == '[') {
      brackets += sign == '[' ? 1 : sign == ']' ? -1 : 0;
      written += sign;
    } else if (sign == '{') {
      written += translate_brace(rest, at, expression, where);
    } else {
      if (sign == '}') written += '\\';
      written += sign;
    }
  }
  return written;
}

#ifdef FOVEA_WITH_ICU

namespace {

/// A text in UTF-16, as ICU matches it, and where its units stand.
struct Utf16Text {
  explicit Utf16Text(std::string_view text) {
    units.reserve(text.size());
    size_t at = 0;
    while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80)
      units.push_back(char16_t(text[at++]));
    if (at == text.size()) return;
    for (size_t i = 0; i < at; ++i) bytes.push_back(uint32_t(i));
    while (at < text.size()) {
      const auto begin = uint32_t(at);
      const char32_t code = next_code_point(text, at);
      if (code >= 0x10000) {
        units.push_back(char16_t(0xD7C0 + (code >> 10)));
        bytes.push_back(begin);
      }
      units.push_back(char16_t(code >= 0x10000 ? 0xDC00 | (code & 0x3FF) : code));
      bytes.push_back(begin);
    }
    bytes.push_back(uint32_t(text.size()));
  }
  size_t byte(int64_t unit) const { return bytes.empty() ? size_t(unit) : bytes[size_t(unit)]; }

  std::u16string units;
  std::vector<uint32_t> bytes;  // [units + 1]; empty: all is ASCII
};

std::vector<Match> find_regex(const icu::RegexPattern& regex, std::string_view text) {
  const Utf16Text wide(text);
  const icu::UnicodeString input(false, wide.units.data(), int32_t(wide.units.size()));
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::RegexMatcher> matcher(regex.matcher(input, status));
  constexpr int32_t kMostSteps = 3000;  // of one match, about as many milliseconds
  constexpr int32_t kMostMemory = 256 << 20;
  if (U_SUCCESS(status)) {
    matcher->setTimeLimit(kMostSteps, status);
    matcher->setStackLimit(kMostMemory, status);
  }
  std::vector<Match> found;
  found.reserve(text.size() / 4);
  size_t previous = 0;
  while (U_SUCCESS(status) && matcher->find(status)) {
    const size_t begin = wide.byte(matcher->start(status)), end = wide.byte(matcher->end(status));
    if (begin == end && !found.empty() && begin == previous) continue;
    if (previous < begin) found.push_back({previous, begin, false});
    found.push_back({begin, end, true});
    previous = end;
  }
  require(U_SUCCESS(status), ErrorKind::BadData,
          "a regular expression of tokenizer.json cannot be matched against a text of ",
          format_count(int64_t(text.size())), " bytes (", u_errorName(status),
          "); it needs too many steps");
  if (previous < text.size()) found.push_back({previous, text.size(), false});
  return found;
}

}  // namespace

Pattern regex_pattern(const std::string& expression, const std::string& where) {
  const std::string translated = translate_regex(expression, where);
  UErrorCode status = U_ZERO_ERROR;
  UParseError place{};
  const std::shared_ptr<const icu::RegexPattern> regex(
      icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(translated),
                                 UREGEX_MULTILINE | UREGEX_UNIX_LINES, place, status));
  require(U_SUCCESS(status), ErrorKind::BadData, where, ": the regular expression '",
          shorten_bytes(expression, 200), "' cannot be read (", u_errorName(status), " near '",
          shorten_bytes(translated.substr(std::min(translated.size(), size_t(place.offset))), 20),
          "')");
  return [regex](std::string_view text) { return find_regex(*regex, text); };
}

#else

Pattern regex_pattern(const std::string&, const std::string&) {
  return [](std::string_view) -> std::vector<Match> {
    require_icu();
    return {};
  };
}

#endif

}  // namespace fovea::hugging_face
