#include "fovea/data/media_input.h"

#include "fovea/base/base64.h"
#include "fovea/base/data_url.h"
#include "fovea/base/error.h"

namespace fovea {

namespace {

/// What messages show: data:audio/wav;base64,…
std::string shown_url(const MediaInput& input) {
  return concat(data_url(input.type, "", ""), "…");
}

}  // namespace

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

}  // namespace fovea
