#include "fovea/data/formats/read_image.h"

#include <array>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/image_decoders.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kJpeg = "\xff\xd8\xff";

/// How files of other kinds begin, and what they are.
constexpr std::array<std::pair<std::string_view, const char*>, 8> kOthers{{
    {"GIF87a", "GIF"},
    {"GIF89a", "GIF"},
    {"RIFF", "WebP"},
    {"BM", "BMP"},
    {"II*\0"sv, "TIFF"},
    {"MM\0*"sv, "TIFF"},
    {"\0\0\0\x0cjP  "sv, "JPEG 2000"},
    {"<svg", "SVG"},
}};

/// The first bytes for a message: what can be printed, points for the rest.
std::string beginning_of(std::string_view bytes) {
  std::string shown;
  for (const char byte : bytes.substr(0, 12)) shown += byte >= ' ' && byte <= '~' ? byte : '.';
  return shown;
}

}  // namespace

void check_image_size(int64_t width, int64_t height, const std::string& where,
                      const ReadImageOptions& options) {
  require(width > 0 && height > 0, ErrorKind::BadData, where, ": is a picture of ", width, " x ",
          height, " pixels");
  require(width <= options.largest_image / height, ErrorKind::BadData, where, ": is ",
          format_count(width), " x ", format_count(height), " = ", format_count(width * height),
          " pixels; at most ", format_count(options.largest_image),
          " are read (data.largest_image)");
}

Image decode_image(std::string_view bytes, const std::string& where,
                   const ReadImageOptions& options) {
  require(options.channels == 1 || options.channels == 3, ErrorKind::InvalidArgument,
          "pictures are read with 1 or 3 channels, not ", options.channels);
  require(!bytes.empty(), ErrorKind::BadData, where, ": is empty; expected a PNG or JPEG picture");
  require(int64_t(bytes.size()) <= options.largest_file, ErrorKind::BadData, where, ": has ",
          format_count(int64_t(bytes.size())), " bytes; at most ",
          format_count(options.largest_file), " are read");
  if (bytes.starts_with(kPng)) return decode_png(bytes, where, options);
  if (bytes.starts_with(kJpeg)) return decode_jpeg(bytes, where, options);
  for (const auto& [begins, kind] : kOthers)
    require(!bytes.starts_with(begins), ErrorKind::Unsupported, where, ": is a ", kind,
            " file; only PNG and JPEG are read");
  fail(ErrorKind::BadData, where, ": is no picture; expected PNG or JPEG, it begins with '",
       beginning_of(bytes), "'");
}

Image read_image(const fs::path& path, const ReadImageOptions& options) {
  return decode_image(read_small_file(path, options.largest_file), path.string(), options);
}

}  // namespace fovea
