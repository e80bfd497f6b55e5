// The kinds that cut by Unicode's boundaries, and what the tokenisers need of ICU: boundaries,
// normal forms, sorts of code points. Regular expressions are in hugging_face/regex.cc.
//   characters  what a reader takes for one character (extended grapheme clusters), composed, so
//               that one look has one number however it was typed
//   words       Unicode's word boundaries, with ICU's dictionaries for scripts that write no
//               blanks. The mark in front of a word says that white space stood there, so no blank
//               needs a token and punctuation finds its place again
#ifdef FOVEA_WITH_ICU
#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>
#endif

#include <algorithm>
#include <limits>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

void check_text(std::string_view text, const std::string& where) {
  constexpr int64_t kLongest = std::numeric_limits<int32_t>::max();
  require(static_cast<int64_t>(text.size()) <= kLongest, ErrorKind::BadData, where, ": has ",
          format_count(int64_t(text.size())), " bytes, more than the ", format_count(kLongest),
          " that one text may have; split it");
  const size_t valid = valid_utf8_prefix(text);
  require(valid == text.size(), ErrorKind::BadData, where, ": not valid UTF-8 at byte ", valid,
          " (the first byte is 0); convert the text to UTF-8");
}

namespace {

std::string without_mark(std::string_view word) {
  std::string plain(word);
  for (size_t at = plain.find(kBlankMark); at != std::string::npos; at = plain.find(kBlankMark, at))
    plain.replace(at, kBlankMark.size(), "_");
  return plain;
}

}  // namespace

std::vector<Token> cut_characters(std::string_view text) {
  std::vector<Token> tokens;
  for (const std::string_view cluster : segments(text, Boundary::Character)) {
    const bool white = run_length(cluster, true) == cluster.size();
    const auto begin = static_cast<size_t>(cluster.data() - text.data());
    tokens.push_back({0, white ? " " : to_nfc(cluster), begin, begin + cluster.size()});
  }
  return tokens;
}

std::vector<Token> cut_words(std::string_view text) {
  std::vector<Token> tokens;
  bool after_white = true;  // a text begins as if after white space
  for (const std::string_view segment : segments(text, Boundary::Word)) {
    // The narrow no-break space and a blank under an accent are white space inside a segment.
    for (size_t at = 0; at < segment.size();) {
      if (const size_t white = run_length(segment.substr(at), true); white > 0) {
        after_white = true;
        at += white;
        continue;
      }
      const std::string_view word = segment.substr(at, run_length(segment.substr(at), false));
      const auto begin = static_cast<size_t>(word.data() - text.data());
      tokens.push_back({0, std::string(after_white ? kBlankMark : "") + to_nfc(without_mark(word)),
                        begin, begin + word.size()});
      after_white = false;
      at += word.size();
    }
  }
  return tokens;
}

#ifdef FOVEA_WITH_ICU

namespace {

void check(UErrorCode status, const char* doing) {
  require(U_SUCCESS(status), ErrorKind::Internal, "ICU failed while ", doing, ": ",
          u_errorName(status));
}

/// A fresh iterator for each call: they have a state, and encode() runs in several threads. To
/// clone one is much cheaper than to make one.
std::unique_ptr<icu::BreakIterator> make_iterator(Boundary boundary) {
  const auto make = [](auto factory, const icu::Locale& locale = icu::Locale::getRoot()) {
    UErrorCode status = U_ZERO_ERROR;
    std::unique_ptr<const icu::BreakIterator> made(factory(locale, status));
    check(status, "loading its rules for boundaries");
    return made;
  };
  static const auto characters = make(icu::BreakIterator::createCharacterInstance);
  static const auto words = make(icu::BreakIterator::createWordInstance);
  // ss: no sentence ends after an abbreviation that ICU knows.
  static const auto sentences =
      make(icu::BreakIterator::createSentenceInstance, icu::Locale("en@ss=standard"));
  const auto& wanted = boundary == Boundary::Character ? characters
                       : boundary == Boundary::Word    ? words
                                                       : sentences;
  return std::unique_ptr<icu::BreakIterator>(wanted->clone());
}

const icu::Normalizer2& normal_form(const icu::Normalizer2* (*load)(UErrorCode&)) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* form = load(status);
  check(status, "loading a normal form");
  return *form;
}

void append_parts(const icu::Normalizer2& form, char32_t code, std::u32string& into) {
  icu::UnicodeString parts;
  if (!form.getDecomposition(static_cast<UChar32>(code), parts)) {
    into.push_back(code);
    return;
  }
  for (int32_t at = 0; at < parts.length(); at = parts.moveIndex32(at, 1))
    into.push_back(static_cast<char32_t>(parts.char32At(at)));
}

}  // namespace

std::vector<std::string_view> segments(std::string_view text, Boundary boundary) {
  UErrorCode status = U_ZERO_ERROR;
  UText utf8 = UTEXT_INITIALIZER;
  utext_openUTF8(&utf8, text.data(), static_cast<int64_t>(text.size()), &status);
  const std::unique_ptr<UText, decltype(&utext_close)> closer(&utf8, utext_close);
  const auto iterator = make_iterator(boundary);
  iterator->setText(&utf8, status);  // positions are then bytes
  check(status, "reading a text");
  std::vector<std::string_view> found;
  int32_t begin = iterator->first();
  for (int32_t end = iterator->next(); end != icu::BreakIterator::DONE; end = iterator->next()) {
    found.push_back(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    begin = end;
  }
  return found;
}

std::string to_nfc(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* nfc = icu::Normalizer2::getNFCInstance(status);
  check(status, "loading normal form C");
  std::string composed;
  icu::StringByteSink<std::string> sink(&composed);
  nfc->normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<int32_t>(text.size())), sink,
                     nullptr, status);
  check(status, "normalising a text");
  return composed;
}

size_t run_length(std::string_view text, bool white) {
  const auto size = static_cast<int32_t>(text.size());
  int32_t at = 0;
  while (at < size) {
    int32_t next = at;
    UChar32 code = 0;
    U8_NEXT(text.data(), next, size, code);
    if (bool(u_isUWhiteSpace(code)) != white) break;
    at = next;
  }
  return static_cast<size_t>(at);
}

CodeSort sort_of(char32_t code) {
  const auto point = static_cast<UChar32>(code);
  switch (u_charType(point)) {
    case U_CONTROL_CHAR:
    case U_FORMAT_CHAR:
    case U_PRIVATE_USE_CHAR:
      return CodeSort::Control;
    case U_NON_SPACING_MARK:
      return CodeSort::Mark;
    case U_CONNECTOR_PUNCTUATION:
    case U_DASH_PUNCTUATION:
    case U_START_PUNCTUATION:
    case U_END_PUNCTUATION:
    case U_INITIAL_PUNCTUATION:
    case U_FINAL_PUNCTUATION:
    case U_OTHER_PUNCTUATION:
      return CodeSort::Punctuation;
    default:
      return u_isUWhiteSpace(point) ? CodeSort::White : CodeSort::Letter;
  }
}

void append_decomposed(char32_t code, std::u32string& into) {
  static const icu::Normalizer2& nfd = normal_form(icu::Normalizer2::getNFDInstance);
  append_parts(nfd, code, into);
}

void append_compatibility_decomposed(char32_t code, std::u32string& into) {
  static const icu::Normalizer2& nfkd = normal_form(icu::Normalizer2::getNFKDInstance);
  append_parts(nfkd, code, into);
}

char32_t composed(char32_t first, char32_t second) {
  static const icu::Normalizer2& nfc = normal_form(icu::Normalizer2::getNFCInstance);
  const UChar32 found = nfc.composePair(static_cast<UChar32>(first), static_cast<UChar32>(second));
  return found < 0 ? 0 : static_cast<char32_t>(found);
}

uint8_t combining_class(char32_t code) {
  return u_getCombiningClass(static_cast<UChar32>(code));
}

bool is_white_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r');
  return u_isUWhiteSpace(static_cast<UChar32>(code));
}

bool is_mark(char32_t code) {
  return (U_GET_GC_MASK(static_cast<UChar32>(code)) & U_GC_M_MASK) != 0;
}

bool is_numeric(char32_t code) {
  return (U_GET_GC_MASK(static_cast<UChar32>(code)) & U_GC_N_MASK) != 0;
}

bool is_word_character(char32_t code) {
  const auto point = static_cast<UChar32>(code);
  return u_isUAlphabetic(point) || code == 0x200C || code == 0x200D ||
         (U_GET_GC_MASK(point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

int script_of(char32_t code) {
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(code), &status);
  return U_FAILURE(status) || script == USCRIPT_UNKNOWN ? -1 : int(script);
}

void append_lower(char32_t code, std::u32string& into) {
  constexpr char32_t kCapitalIWithDot = 0x130;  // the one letter that becomes two
  if (code == kCapitalIWithDot) {
    into.append(U"i\u0307");
  } else {
    into.push_back(static_cast<char32_t>(u_tolower(static_cast<UChar32>(code))));
  }
}

bool has_icu() {
  return true;
}

void require_icu() {}

#else

namespace {

[[noreturn]] void no_icu() {
  fail(ErrorKind::Unsupported,
       "this build has no ICU, which the tokenisers 'characters', 'words' and 'wordpiece', every "
       "tokenizer.json and the cutting of sentences need; install ICU (libicu-dev) and build with "
       "FOVEA_WITH_ICU=ON, or "
       "use a prepared file");
}

}  // namespace

std::vector<std::string_view> segments(std::string_view, Boundary) {
  no_icu();
}
std::string to_nfc(std::string_view) {
  no_icu();
}
size_t run_length(std::string_view, bool) {
  no_icu();
}
CodeSort sort_of(char32_t) {
  no_icu();
}
void append_decomposed(char32_t, std::u32string&) {
  no_icu();
}
void append_lower(char32_t, std::u32string&) {
  no_icu();
}
void append_compatibility_decomposed(char32_t, std::u32string&) {
  no_icu();
}
char32_t composed(char32_t, char32_t) {
  no_icu();
}
uint8_t combining_class(char32_t) {
  no_icu();
}
bool is_white_space(char32_t) {
  no_icu();
}
bool is_mark(char32_t) {
  no_icu();
}
bool is_numeric(char32_t) {
  no_icu();
}
bool is_word_character(char32_t) {
  no_icu();
}
int script_of(char32_t) {
  no_icu();
}
bool has_icu() {
  return false;
}
void require_icu() {
  no_icu();
}

#endif

}  // namespace fovea
