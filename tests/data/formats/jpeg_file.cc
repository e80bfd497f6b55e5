#include "tests/data/formats/jpeg_file.h"

#ifdef FOVEA_WITH_IMAGES

#include <cstdio>
#include <cstdlib>
// jpeglib.h needs what cstdio declares.
#include <jpeglib.h>

namespace fovea::testing {

std::string make_jpeg(const Image& image, const JpegFile& file) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = JDIMENSION(image.width);
  jpeg.image_height = JDIMENSION(image.height);
  jpeg.input_components = int(image.channels);
  jpeg.in_color_space = file.inks ? JCS_CMYK : image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 95, TRUE);
  if (file.inks) jpeg.write_Adobe_marker = file.adobe;
  if (file.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  if (file.orientation > 0) {
    // "Exif", then a TIFF block with one field: 0x0112, a short.
    std::string block("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 25);
    block += char(file.orientation);
    block += std::string(6, '\0');
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(block.data()),
                      unsigned(block.size()));
  }
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<unsigned char*>(
        &image.pixels[size_t(jpeg.next_scanline) * size_t(image.width * image.channels)]);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string result(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return result;
}

}  // namespace fovea::testing

#else

std::string fovea::testing::make_jpeg(const Image&, const JpegFile&) {
  return "";
}

#endif
