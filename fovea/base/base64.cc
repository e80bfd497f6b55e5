#include "fovea/base/base64.h"

#include <array>
#include <cstdio>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint32_t kForeign = uint32_t{1} << 31;  // survives an OR of four table entries

/// values[place][character]: the six bits of a character, where they stand in 24 bits.
using Tables = std::array<std::array<uint32_t, 256>, 4>;
constexpr Tables make_tables() {
  Tables tables{};
  for (size_t place = 0; place < 4; ++place) {
    for (uint32_t& value : tables[place]) value = kForeign;
    for (uint32_t value = 0; value < 64; ++value)
      tables[place][static_cast<unsigned char>(kAlphabet[value])] = value << (18 - 6 * place);
  }
  return tables;
}
constexpr Tables kValues = make_tables();

/// Twelve bits as two characters.
constexpr auto make_pairs() {
  std::array<std::array<char, 2>, 4096> pairs{};
  for (size_t bits = 0; bits < pairs.size(); ++bits)
    pairs[bits] = {kAlphabet[bits >> 6], kAlphabet[bits & 63]};
  return pairs;
}
constexpr auto kPairs = make_pairs();

uint32_t value_of(char character, size_t place) {
  return kValues[place][static_cast<unsigned char>(character)];
}

/// 24 bits from four characters; kForeign is set when one of them is not of the alphabet.
uint32_t group_at(const char* text) {
  return value_of(text[0], 0) | value_of(text[1], 1) | value_of(text[2], 2) | value_of(text[3], 3);
}

[[noreturn]] void refuse_character(std::string_view text, size_t at, const std::string& where) {
  while (at < text.size() && value_of(text[at], 0) != kForeign) ++at;
  char shown[8];
  std::snprintf(shown, sizeof shown, "0x%02X", static_cast<unsigned char>(text[at]));
  fail(ErrorKind::BadData, where, ": not base64: byte ", at, " is ", shown,
       text[at] == '=' ? " ('=', which may stand only at the end)" : "",
       ", expected A-Z, a-z, 0-9, + or /");
}

/// The last four characters, of which up to two are padding.
void decode_end(std::string_view text, const std::string& where, std::string& bytes) {
  const size_t begin = text.size() - 4;
  const size_t padding = text[begin + 3] != '=' ? 0 : text[begin + 2] != '=' ? 1 : 2;
  uint32_t bits = 0;
  for (size_t place = 0; place < 4 - padding; ++place) bits |= value_of(text[begin + place], place);
  if ((bits & kForeign) != 0) [[unlikely]]
    refuse_character(text, begin, where);
  for (size_t i = 0; i < 3 - padding; ++i) bytes += static_cast<char>(bits >> (16 - 8 * i));
  const uint32_t left_over = bits & ((uint32_t{1} << (8 * padding)) - 1);
  require(left_over == 0, ErrorKind::BadData, where, ": not base64: byte ", begin + 3 - padding,
          " ('", text[begin + 3 - padding], "') has bits that belong to no byte");
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  const auto byte = [&](size_t at) { return uint32_t{static_cast<unsigned char>(bytes[at])}; };
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  const auto put = [&](uint32_t twelve_bits) {
    *out++ = kPairs[twelve_bits][0];
    *out++ = kPairs[twelve_bits][1];
  };
  size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const uint32_t bits = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    put(bits >> 12);
    put(bits & 4095);
  }
  if (bytes.size() - at == 1) put(byte(at) << 4);
  if (bytes.size() - at == 2) {
    const uint32_t bits = byte(at) << 10 | byte(at + 1) << 2;  // 18 bits, the last two 0
    put(bits >> 6);
    *out = kAlphabet[bits & 63];
  }
  return text;
}

std::string base64_decode(std::string_view text, const std::string& where) {
  require(text.size() % 4 == 0, ErrorKind::BadData, where, ": not base64: it has ", text.size(),
          " characters, expected a multiple of 4 (is it cut short, or without its padding '='?)");
  if (text.empty()) return {};
  const size_t groups = text.size() / 4 - 1;  // besides the last, which may be padded
  std::string bytes;
  bytes.reserve(groups * 3 + 3);
  bytes.resize(groups * 3);
  char* out = bytes.data();
  for (size_t group = 0; group < groups; ++group, out += 3) {
    const uint32_t bits = group_at(text.data() + group * 4);
    if ((bits & kForeign) != 0) [[unlikely]]
      refuse_character(text, group * 4, where);
    out[0] = static_cast<char>(bits >> 16);
    out[1] = static_cast<char>(bits >> 8);
    out[2] = static_cast<char>(bits);
  }
  decode_end(text, where, bytes);
  return bytes;
}

}  // namespace fovea
