// Symbols as text: the bits, the first one first, with blanks between symbols: "0110 1011".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/copies/kind.h"
#include "fovea/tensor/random.h"

namespace fovea {

constexpr int64_t kMostSymbolBits = 32;
constexpr int64_t kMostSequenceSymbols = 100'000;  // of a row, repeated ones counted as often

constexpr int64_t kMostOrder = 16;  // N of N-grams

/// `length` symbols of `bits` random bits.
CopySequence draw_sequence(int64_t length, int64_t bits, const Random& random);

std::string format_symbol(int64_t symbol, int64_t bits);
std::string format_sequence(const CopySequence& sequence, int64_t bits);
/// BadData, beginning with `where`, for what is no symbol of so many bits; 0: as many as the first
/// one has, which `bits` is then set to.
CopySequence parse_sequence(std::string_view text, int64_t& bits, const std::string& where);

/// The pieces between blanks.
std::vector<std::string_view> split_blanks(std::string_view text);

}  // namespace fovea
