// Bytes as text and back: base64 of RFC 4648, section 4, with padding. Reading is strict, so that
// one run of bytes has exactly one text: no blanks, no line ends, no other alphabet, no bits that
// are thrown away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

std::string base64_encode(std::string_view bytes);

/// BadData names `where` and the place of the first character that does not belong there.
std::string base64_decode(std::string_view text, const std::string& where);

}  // namespace fovea
