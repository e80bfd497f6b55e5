#include "fovea/data/speech/sound_input.h"

#include "fovea/base/data_url.h"
#include "fovea/data/media_input.h"

namespace fovea {

namespace {

const MediaInput kSound{"audio", "audio/wav", "a WAV or FLAC file"};

}  // namespace

Sound sound_of_input(const std::string& line, const ReadSoundOptions& options) {
  const MediaFile file = file_of_input(line, kSound, options.largest_file);
  return decode_sound(file.bytes, file.where, options);
}

Json sound_input_schema() {
  return media_input_schema(kSound);
}

Json sound_input(const Sound& sound, const std::string& name) {
  return {{kSound.property, data_url(kSound.type, name, encode_wav(sound.samples, sound.rate))}};
}

}  // namespace fovea
