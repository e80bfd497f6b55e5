#include "fovea/explain/draw/direction.h"

#ifdef FOVEA_WITH_ICU

#include <unicode/ubidi.h>
#include <unicode/ushape.h>
#include <unicode/ustring.h>

#include <memory>

#include "fovea/base/error.h"

namespace fovea {
namespace {

/// What write(buffer, capacity, status) writes, at most `capacity` units.
template <class Text, class Write>
Text written(size_t capacity, const char* what, const Write& write) {
  Text text(capacity + 1, 0);  // ICU warns where there is no room for the 0 at the end
  UErrorCode status = U_ZERO_ERROR;
  const int32_t size = write(text.data(), int32_t(text.size()), &status);
  require(U_SUCCESS(status), ErrorKind::Internal, "ICU cannot ", what,
          " a text: ", u_errorName(status));
  text.resize(size_t(size));
  return text;
}

/// Arabic letters in the form that joins their neighbours.
std::u16string shape(const std::u16string& text) {
  auto shaped = written<std::u16string>(
      text.size(), "shape", [&](UChar* to, int32_t capacity, UErrorCode* status) {
        return u_shapeArabic(text.data(), int32_t(text.size()), to, capacity,
                             U_SHAPE_LETTERS_SHAPE | U_SHAPE_LENGTH_GROW_SHRINK, status);
      });
  // Vowel marks become forms that stand for themselves: U+FE70, FE72 … are U+064B, 064C … again.
  for (char16_t& unit : shaped)
    if (unit >= 0xFE70 && unit <= 0xFE7F) unit = char16_t(0x064B + (unit - 0xFE70) / 2);
  return shaped;
}

}  // namespace

std::string visual_order(std::string_view text) {
  const auto units = written<std::u16string>(
      text.size(), "decode", [&](UChar* to, int32_t capacity, UErrorCode* status) {
        int32_t size = 0;
        u_strFromUTF8WithSub(to, capacity, &size, text.data(), int32_t(text.size()), 0xFFFD,
                             nullptr, status);
        return size;
      });
  const std::u16string shaped = shape(units);
  const auto size = int32_t(shaped.size());
  const std::unique_ptr<UBiDi, decltype(&ubidi_close)> paragraph(ubidi_open(), ubidi_close);
  const auto ordered = written<std::u16string>(
      shaped.size(), "order", [&](UChar* to, int32_t capacity, UErrorCode* status) {
        ubidi_setPara(paragraph.get(), shaped.data(), size, UBIDI_DEFAULT_LTR, nullptr, status);
        return ubidi_writeReordered(paragraph.get(), to, capacity,
                                    UBIDI_DO_MIRRORING | UBIDI_KEEP_BASE_COMBINING, status);
      });
  return written<std::string>(
      3 * ordered.size(), "encode", [&](char* to, int32_t capacity, UErrorCode* status) {
        int32_t bytes = 0;
        u_strToUTF8(to, capacity, &bytes, ordered.data(), int32_t(ordered.size()), status);
        return bytes;
      });
}

}  // namespace fovea

#else

namespace fovea {

std::string visual_order(std::string_view text) {
  return std::string(text);
}

}  // namespace fovea

#endif
