#include "fovea/data/media_input.h"

#include "fovea/base/base64.h"
#include "fovea/base/data_url.h"
#include "fovea/base/error.h"

namespace fovea {

namespace {

struct MediaInput {
  std::string property;
  std::string type;  // the one that messages show
  std::string files;
};

const MediaInput kImage{"image", "image/png", "a PNG or JPEG file"};
const MediaInput kSound{"audio", "audio/wav", "a WAV or FLAC file"};

struct MediaFile {
  std::string where;  // for messages: "input", and the file's name where it is known
  std::string bytes;
};

/// What messages show: data:audio/wav;base64,…
std::string shown_url(const MediaInput& input) {
  return concat(data_url(input.type, "", ""), "…");
}

/// The file of an input line. BadData says what does not fit.
MediaFile file_of_input(const std::string& line, const MediaInput& input, int64_t largest) {
  std::string url(trim(line));
  if (is_json_object(line)) {
    const Json json = parse_json(line, "input");
    require(json.contains(input.property) && json[input.property].is_string(), ErrorKind::BadData,
            "input: expected {\"", input.property, "\": \"", shown_url(input), "\"}");
    url = json[input.property].get<std::string>();
  }
  const auto parts = split_data_url(url);
  require(parts.has_value(), ErrorKind::BadData, "input: \"", input.property,
          "\" must be the bytes of ", input.files, " as ", shown_url(input));
  MediaFile file{parts->name.empty() ? "input" : concat("input: ", parts->name), ""};
  require(int64_t(parts->base64.size()) / 4 * 3 <= largest, ErrorKind::BadData, file.where,
          ": holds more than ", format_count(largest), " bytes");
  file.bytes = base64_decode(parts->base64, file.where);
  return file;
}

Json media_input_schema(const MediaInput& input) {
  const std::string kind = input.type.substr(0, input.type.find('/'));
  return {{"type", "object"},
          {"properties",
           {{input.property,
             {{"type", "string"},
              {"contentEncoding", "base64"},
              {"contentMediaType", concat(kind, "/*")},
              {"description", concat(input.files, " as a data URL: ", shown_url(input))}}}}},
          {"required", {input.property}}};
}

}  // namespace

Image image_of_input(const std::string& line, const ReadImageOptions& options) {
  const MediaFile file = file_of_input(line, kImage, options.largest_file);
  return decode_image(file.bytes, file.where, options);
}

Sound sound_of_input(const std::string& line, const ReadSoundOptions& options) {
  const MediaFile file = file_of_input(line, kSound, options.largest_file);
  return decode_sound(file.bytes, file.where, options);
}

Json image_input_schema() {
  return media_input_schema(kImage);
}

Json sound_input_schema() {
  return media_input_schema(kSound);
}

Json image_input(std::string_view png) {
  return {{kImage.property, data_url(kImage.type, "", png)}};
}

Json sound_input(const Sound& sound, const std::string& name) {
  return {{kSound.property, data_url(kSound.type, name, encode_wav(sound.samples, sound.rate))}};
}

}  // namespace fovea
