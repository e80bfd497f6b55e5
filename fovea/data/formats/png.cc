// PNG through libpng's simplified interface, which keeps its long jumps to itself: no destructor of
// ours is ever jumped over.
#include "fovea/base/error.h"
#include "fovea/data/formats/image_decoders.h"

#ifdef FOVEA_WITH_IMAGES
#include <png.h>
#endif

namespace fovea {

#ifdef FOVEA_WITH_IMAGES

namespace {

constexpr size_t kSignature = 8;    // bytes before the first chunk
constexpr size_t kAroundData = 12;  // length, type and checksum of a chunk

/// libpng's handle, which frees itself.
struct Reader {
  png_image image{};
  Reader() { image.version = PNG_IMAGE_VERSION; }
  ~Reader() { png_image_free(&image); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
};

[[noreturn]] void refuse(const std::string& where, const png_image& image) {
  fail(ErrorKind::BadData, where, ": is a damaged PNG file: ", image.message);
}

uint32_t number_at(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t i) { return uint32_t(static_cast<unsigned char>(bytes[at + i])); };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

/// Whether a chunk of animations, acTL, stands before the pixels.
bool is_animated(std::string_view bytes) {
  for (size_t at = kSignature; at + kAroundData <= bytes.size();) {
    const std::string_view type = bytes.substr(at + 4, 4);
    if (type == "acTL") return true;
    if (type == "IDAT") return false;
    at += kAroundData + size_t(number_at(bytes, at));
  }
  return false;
}

}  // namespace

bool can_read_images() {
  return true;
}

Image decode_png(std::string_view bytes, const std::string& where,
                 const ReadImageOptions& options) {
  Reader reader;
  png_image& png = reader.image;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) refuse(where, png);
  check_image_size(png.width, png.height, where, options);
  png.format = options.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // 16 bits that name no colour space are no linear light
  Image image = make_image(png.height, png.width, options.channels);
  const png_color background{options.background, options.background, options.background};
  if (png_image_finish_read(&png, &background, image.pixels.data(), 0, nullptr) == 0)
    refuse(where, png);
  image.animated = is_animated(bytes);
  return image;
}

std::string encode_png(const Image& image) {
  Reader writer;
  png_image& png = writer.image;
  png.width = png_uint_32(image.width);
  png.height = png_uint_32(image.height);
  png.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  require((image.channels == 1 || image.channels == 3) && !image.pixels.empty(),
          ErrorKind::InvalidArgument, "a picture of ", image.width, " x ", image.height, " with ",
          image.channels, " channels cannot be written as PNG");
  png_alloc_size_t size = 0;
  const auto write = [&](void* to) {
    require(png_image_write_to_memory(&png, to, &size, 0, image.pixels.data(), 0, nullptr) != 0,
            ErrorKind::Internal, "a PNG file cannot be made: ", png.message);
  };
  write(nullptr);  // says how large it will be
  std::string bytes(size, '\0');
  write(bytes.data());
  bytes.resize(size);
  return bytes;
}

#else

namespace {

[[noreturn]] void refuse(const std::string& what) {
  fail(ErrorKind::Unsupported, what,
       ": this build cannot read or write pictures; install libpng-dev and libjpeg62-turbo-dev and "
       "build with FOVEA_WITH_IMAGES=ON");
}

}  // namespace

bool can_read_images() {
  return false;
}

Image decode_png(std::string_view, const std::string& where, const ReadImageOptions&) {
  refuse(where);
}

Image decode_jpeg(std::string_view, const std::string& where, const ReadImageOptions&) {
  refuse(where);
}

std::string encode_png(const Image&) {
  refuse("PNG");
}

#endif

}  // namespace fovea
