// Sound as this project keeps it: one channel of 16-bit samples. What is finer in a file is lost,
// and cannot be heard either.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

struct Sound {
  std::vector<int16_t> samples;
  int64_t rate = 8000;  // samples of a second

  double seconds() const { return double(samples.size()) / double(rate); }
};

/// The sample nearest to a number in -1 … 1; what lies outside is cut off.
int16_t sample_of(double value);

/// The sound as a WAV file.
std::string encode_wav(std::span<const int16_t> samples, int64_t rate);

}  // namespace fovea
