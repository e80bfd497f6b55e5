#include "fovea/data/speech/sound.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fovea {

namespace {

/// The lowest byte first, as WAV has it on any machine.
void append_number(std::string& bytes, uint32_t number, int count) {
  for (int byte = 0; byte < count; ++byte) bytes += char(number >> (8 * byte) & 0xff);
}

}  // namespace

int16_t sample_of(double value) {
  return int16_t(std::clamp<long>(std::lround(value * 32768), -32768, 32767));
}

std::string encode_wav(std::span<const int16_t> samples, int64_t rate) {
  constexpr uint32_t kPlain = 1, kChannels = 1, kBytes = 2;  // of a sample
  constexpr uint32_t kFormat = 16, kHeader = 36;             // bytes of these chunks
  const auto data = uint32_t(samples.size() * kBytes);
  std::string bytes = "RIFF";
  append_number(bytes, kHeader + data, 4);
  bytes += "WAVEfmt ";
  append_number(bytes, kFormat, 4);
  append_number(bytes, kPlain, 2);
  append_number(bytes, kChannels, 2);
  append_number(bytes, uint32_t(rate), 4);
  append_number(bytes, uint32_t(rate) * kBytes, 4);
  append_number(bytes, kBytes, 2);
  append_number(bytes, 8 * kBytes, 2);
  bytes += "data";
  append_number(bytes, data, 4);
  bytes.reserve(bytes.size() + data);
  for (const int16_t sample : samples) append_number(bytes, std::bit_cast<uint16_t>(sample), 2);
  return bytes;
}

}  // namespace fovea
