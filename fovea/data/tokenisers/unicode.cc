// All that the tokenisers need of ICU: boundaries, normal form C, white space.
#ifdef FOVEA_WITH_ICU
#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>
#endif

#include <algorithm>
#include <limits>
#include <memory>

#include "fovea/core/error.h"
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

#ifdef FOVEA_WITH_ICU

namespace {

void check(UErrorCode status, const char* doing) {
  require(U_SUCCESS(status), ErrorKind::Internal, "ICU failed while ", doing, ": ",
          u_errorName(status));
}

/// A fresh iterator for each call: they have a state, and encode() runs in several threads. To
/// clone one is much cheaper than to make one.
std::unique_ptr<icu::BreakIterator> make_iterator(Boundary boundary) {
  const auto make = [](auto factory) {
    UErrorCode status = U_ZERO_ERROR;
    std::unique_ptr<const icu::BreakIterator> made(factory(icu::Locale::getRoot(), status));
    check(status, "loading its rules for boundaries");
    return made;
  };
  static const auto characters = make(icu::BreakIterator::createCharacterInstance);
  static const auto words = make(icu::BreakIterator::createWordInstance);
  return std::unique_ptr<icu::BreakIterator>(
      (boundary == Boundary::Character ? characters : words)->clone());
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

#else

namespace {

[[noreturn]] void no_icu() {
  fail(ErrorKind::Unsupported,
       "this build has no ICU, which the tokenisers 'characters' and 'words' need to cut a text; "
       "install ICU (libicu-dev) and build with FOVEA_WITH_ICU=ON, or use a prepared file");
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

#endif

}  // namespace fovea
