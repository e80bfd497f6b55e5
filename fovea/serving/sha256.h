// SHA-256 (FIPS 180-4), for the page's content security policy and for comparing keys without
// telling by the time how much of them was right.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::serving {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view bytes);

/// Whether both texts are the same, in a time that depends on neither.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace fovea::serving
