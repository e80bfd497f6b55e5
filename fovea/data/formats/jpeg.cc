// JPEG through libjpeg-turbo. Its errors are long jumps, which run no destructor: the two functions
// that may be jumped out of, read_head() and read_pixels(), hold nothing that has one, and what
// they fill belongs to their caller.
#ifdef FOVEA_WITH_IMAGES

#include <csetjmp>
#include <cstdio>
// jpeglib.h needs what cstdio declares.
#include <jerror.h>
#include <jpeglib.h>

#include "fovea/base/error.h"
#include "fovea/data/formats/image_decoders.h"

namespace fovea {

namespace {

constexpr int kMostScans = 100;  // a progressive file of a few kilobytes can ask for thousands
constexpr unsigned kLongestMarker = 0xffff;

/// libjpeg's handle and where its errors go.
struct Reader {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX] = {};
  bool is_damaged = false;  // a warning: it would go on with grey

  ~Reader() { jpeg_destroy_decompress(&jpeg); }
};

Reader& reader_of(j_common_ptr jpeg) {
  return *static_cast<Reader*>(jpeg->client_data);
}

[[noreturn]] void jump_back(j_common_ptr jpeg) {
  Reader& reader = reader_of(jpeg);
  reader.errors.format_message(jpeg, reader.message);
  std::longjmp(reader.back, 1);
}

void hear_warning(j_common_ptr jpeg, int level) {
  Reader& reader = reader_of(jpeg);
  const int code = reader.errors.msg_code;
  const bool matters =
      code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE;
  if (level >= 0 || !matters || reader.is_damaged) return;
  reader.is_damaged = true;
  reader.errors.format_message(jpeg, reader.message);
}

void count_scans(j_common_ptr jpeg) {
  if (!jpeg->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
  Reader& reader = reader_of(jpeg);
  std::snprintf(reader.message, sizeof reader.message, "more than %d scans", kMostScans);
  std::longjmp(reader.back, 1);
}

/// False: `message` says why not.
bool read_head(Reader& reader, const unsigned char* bytes, size_t size) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = jump_back;
  reader.errors.emit_message = hear_warning;
  reader.errors.output_message = [](j_common_ptr) {};
  jpeg.client_data = &reader;
  if (setjmp(reader.back) != 0) return false;
  jpeg_create_decompress(&jpeg);
  reader.progress.progress_monitor = count_scans;
  jpeg.progress = &reader.progress;
  jpeg_mem_src(&jpeg, bytes, size);
  jpeg_save_markers(&jpeg, JPEG_APP0 + 1, kLongestMarker);
  jpeg_read_header(&jpeg, TRUE);
  return true;
}

/// Into `pixels`, row after row.
bool read_pixels(Reader& reader, unsigned char* pixels) {
  jpeg_decompress_struct& jpeg = reader.jpeg;
  if (setjmp(reader.back) != 0) return false;
  jpeg_start_decompress(&jpeg);
  const size_t stride = size_t(jpeg.output_width) * size_t(jpeg.output_components);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = pixels + size_t(jpeg.output_scanline) * stride;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

/// Four inks to red, green, blue. Adobe stores them inverted: 255 is no ink.
Image without_inks(const Image& inks, bool inverted) {
  Image image = make_image(inks.height, inks.width, 3);
  const int64_t area = inks.height * inks.width;
  for (int64_t place = 0; place < area; ++place) {
    const uint8_t* ink = &inks.pixels[size_t(4 * place)];
    const auto light = [&](int i) { return inverted ? ink[i] : 255 - ink[i]; };
    for (int channel = 0; channel < 3; ++channel)
      image.pixels[size_t(3 * place + channel)] = uint8_t((light(channel) * light(3) + 127) / 255);
  }
  return image;
}

Image grey_of(const Image& image) {
  Image grey = make_image(image.height, image.width, 1);
  for (size_t place = 0; place < grey.pixels.size(); ++place) {
    const uint8_t* colour = &image.pixels[3 * place];
    grey.pixels[place] =
        uint8_t((299 * colour[0] + 587 * colour[1] + 114 * colour[2] + 500) / 1000);
  }
  return grey;
}

int orientation_of(const jpeg_decompress_struct& jpeg) {
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker != nullptr;
       marker = marker->next) {
    const int found = exif_orientation(
        {reinterpret_cast<const char*>(marker->data), size_t(marker->data_length)});
    if (found != 1) return found;
  }
  return 1;
}

}  // namespace

Image decode_jpeg(std::string_view bytes, const std::string& where,
                  const ReadImageOptions& options) {
  Reader reader;
  const auto refuse = [&] {
    fail(ErrorKind::BadData, where, ": is a damaged JPEG file: ", reader.message);
  };
  if (!read_head(reader, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
    refuse();
  jpeg_decompress_struct& jpeg = reader.jpeg;
  check_image_size(jpeg.image_width, jpeg.image_height, where, options);
  const bool has_inks = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  const bool inverted = jpeg.saw_Adobe_marker;
  const int orientation = orientation_of(jpeg);
  jpeg.out_color_space = has_inks ? JCS_CMYK : options.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  Image image = make_image(jpeg.image_height, jpeg.image_width, has_inks ? 4 : options.channels);
  if (!read_pixels(reader, image.pixels.data()) || reader.is_damaged) refuse();
  if (has_inks) image = without_inks(image, inverted);
  if (has_inks && options.channels == 1) image = grey_of(image);
  return turned(image, orientation);
}

}  // namespace fovea

#endif
