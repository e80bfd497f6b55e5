#include "fovea/data/audio/sound_input.h"

#include "fovea/core/base64.h"
#include "fovea/core/error.h"

namespace fovea {

namespace {

constexpr std::string_view kMark = ";base64,";
constexpr const char* kWhere = "input";

Sound sound_of_url(std::string_view url, const ReadSoundOptions& options) {
  const size_t mark = url.find(kMark);
  require(url.starts_with("data:") && mark != std::string_view::npos, ErrorKind::BadData, kWhere,
          ": \"audio\" must be the bytes of a WAV or FLAC file as data:audio/wav;base64,…");
  const std::string_view text = url.substr(mark + kMark.size());
  require(int64_t(text.size()) / 4 * 3 <= options.largest_file, ErrorKind::BadData, kWhere,
          ": \"audio\" holds more than ", format_count(options.largest_file), " bytes");
  return decode_sound(base64_decode(text, kWhere), kWhere, options);
}

}  // namespace

Sound sound_of_input(const std::string& line, const ReadSoundOptions& options) {
  if (!is_json_object(line)) return sound_of_url(trim(line), options);
  const Json json = parse_json(line, kWhere);
  require(json.contains("audio") && json["audio"].is_string(), ErrorKind::BadData, kWhere,
          ": expected {\"audio\": \"data:audio/wav;base64,…\"}");
  return sound_of_url(json["audio"].get_ref<const std::string&>(), options);
}

Json sound_input_schema() {
  return {{"type", "object"},
          {"properties",
           {{"audio",
             {{"type", "string"},
              {"contentEncoding", "base64"},
              {"contentMediaType", "audio/*"},
              {"description", "a WAV or FLAC file as a data URL: data:audio/wav;base64,…"}}}}},
          {"required", {"audio"}}};
}

Json sound_input(const Sound& sound) {
  return {{"audio",
           concat("data:audio/wav", kMark, base64_encode(encode_wav(sound.samples, sound.rate)))}};
}

}  // namespace fovea
