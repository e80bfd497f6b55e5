#include "fovea/serving/sha256.h"

#include <bit>
#include <cmath>

namespace fovea::serving {

namespace {

using Words = std::array<uint32_t, 64>;

/// The first 32 bits of the fractional parts of `root`(prime) of the first primes, as the standard
/// defines its constants. A double's 53 bits hold them exactly enough: the test vectors say so.
template <size_t Count, class Root>
std::array<uint32_t, Count> fractions_of_primes(const Root& root) {
  std::array<uint32_t, Count> fractions{};
  size_t found = 0;
  for (uint32_t candidate = 2; found < Count; ++candidate) {
    bool prime = true;
    for (uint32_t divisor = 2; divisor * divisor <= candidate; ++divisor)
      prime = prime && candidate % divisor != 0;
    if (!prime) continue;
    const double value = root(static_cast<double>(candidate));
    fractions[found++] = static_cast<uint32_t>((value - std::floor(value)) * 4294967296.0);
  }
  return fractions;
}

const std::array<uint32_t, 8> kStart =
    fractions_of_primes<8>([](double x) { return std::sqrt(x); });
const Words kRounds = fractions_of_primes<64>([](double x) { return std::cbrt(x); });

Words schedule(const uint8_t* block) {
  Words words{};
  for (size_t i = 0; i < 16; ++i)
    words[i] = static_cast<uint32_t>(block[4 * i]) << 24 |
               static_cast<uint32_t>(block[4 * i + 1]) << 16 |
               static_cast<uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  return words;
}

void add_block(std::array<uint32_t, 8>& state, const uint8_t* block) {
  const Words words = schedule(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                         ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
    const uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one;
    d = c, c = b, b = a, a = one + two;
  }
  const std::array<uint32_t, 8> added{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += added[i];
}

}  // namespace

Digest sha256(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  padded.resize((padded.size() + 8 + 63) / 64 * 64, '\0');
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (size_t i = 0; i < 8; ++i)
    padded[padded.size() - 1 - i] = static_cast<char>(bits >> (8 * i) & 0xFF);
  std::array<uint32_t, 8> state = kStart;
  for (size_t at = 0; at < padded.size(); at += 64)
    add_block(state, reinterpret_cast<const uint8_t*>(padded.data()) + at);
  Digest digest{};
  for (size_t i = 0; i < 32; ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - i % 4 * 8));
  return digest;
}

bool same_secret(std::string_view a, std::string_view b) {
  const Digest x = sha256(a), y = sha256(b);
  unsigned difference = 0;
  for (size_t i = 0; i < x.size(); ++i) difference |= static_cast<unsigned>(x[i] ^ y[i]);
  return difference == 0;
}

}  // namespace fovea::serving
