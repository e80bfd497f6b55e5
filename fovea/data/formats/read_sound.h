// Sound files through libsndfile: WAV, FLAC and whatever else it knows (AIFF, AU, Ogg …). What a
// file is, its first bytes say, not its name. Channels are averaged and the rate becomes the one
// asked for. Sizes are checked before anything is allocated. docs/formats/audio.md lists what is
// read and what is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/speech/sound.h"

namespace fovea {

struct ReadSoundOptions {
  int64_t rate = 8000;                 // that every sound is brought to: data.sample_rate
  double longest = 60;                 // seconds: data.longest_sound
  int64_t largest_file = 256'000'000;  // most bytes
};

/// The sound in a file. NotFound, Io; BadData for what is no sound, a broken one or one without a
/// single sample; Unsupported in a build without the library.
Sound read_sound(const std::filesystem::path& path, const ReadSoundOptions& options = {});

/// The same of a file's bytes; `where` names them in an error.
Sound decode_sound(std::string_view bytes, const std::string& where,
                   const ReadSoundOptions& options = {});

/// Whether this build can read sounds.
bool can_read_sounds();

/// The same sound at another rate: ceil(samples * to / from) numbers; the same ones where the rates
/// are equal. An output sample at time t, counted in input samples, is
///   y(t) = sum_k x_k c sinc(c (t - k)) w((t - k) / R)
/// a sinc that lets pass what both rates can hold (c: the share of the input's frequencies), under
/// Blackman's window w of reach R. Samples outside the sound count as 0. Of rates with a common
/// divisor only a few different filters are needed; each sums to 1, so that a constant stays one.
std::vector<float> resample(std::span<const float> samples, int64_t from, int64_t to);

}  // namespace fovea
