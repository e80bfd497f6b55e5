#include "fovea/serving/gzip.h"

#include <limits>
#include <utility>

#if FOVEA_WITH_ZLIB
#include <zlib.h>
#endif

namespace fovea::serving {

bool gzip([[maybe_unused]] std::string& text) {
#if FOVEA_WITH_ZLIB
  constexpr int kGzip = MAX_WBITS + 16;  // its header instead of zlib's
  constexpr int kMemory = 8;             // zlib's default
  z_stream stream{};
  if (text.size() > std::numeric_limits<uInt>::max() / 2 ||
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return false;
  std::string packed(deflateBound(&stream, uLong(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (done) text = std::move(packed);
  return done;
#else
  return false;
#endif
}

}  // namespace fovea::serving
