#include "fovea/data/images/image_input.h"

#include "fovea/core/base64.h"
#include "fovea/core/error.h"

namespace fovea {

namespace {

constexpr std::string_view kMark = ";base64,";
constexpr const char* kWhere = "input";

Image image_of_url(std::string_view url, const ReadImageOptions& options) {
  const size_t mark = url.find(kMark);
  require(url.starts_with("data:") && mark != std::string_view::npos, ErrorKind::BadData, kWhere,
          ": \"image\" must be the bytes of a PNG or JPEG file as data:image/png;base64,…");
  const std::string_view text = url.substr(mark + kMark.size());
  require(int64_t(text.size()) / 4 * 3 <= options.largest_file, ErrorKind::BadData, kWhere,
          ": \"image\" holds more than ", format_count(options.largest_file), " bytes");
  return decode_image(base64_decode(text, kWhere), kWhere, options);
}

}  // namespace

Image image_of_input(const std::string& line, const ReadImageOptions& options) {
  if (!is_json_object(line)) return image_of_url(trim(line), options);
  const Json json = parse_json(line, kWhere);
  require(json.contains("image") && json["image"].is_string(), ErrorKind::BadData, kWhere,
          ": expected {\"image\": \"data:image/png;base64,…\"}");
  return image_of_url(json["image"].get_ref<const std::string&>(), options);
}

Json image_input_schema() {
  return {{"type", "object"},
          {"properties",
           {{"image",
             {{"type", "string"},
              {"contentEncoding", "base64"},
              {"contentMediaType", "image/*"},
              {"description", "a PNG or JPEG file as a data URL: data:image/png;base64,…"}}}}},
          {"required", {"image"}}};
}

Json image_input(std::string_view png) {
  return {{"image", concat("data:image/png", kMark, base64_encode(png))}};
}

}  // namespace fovea
