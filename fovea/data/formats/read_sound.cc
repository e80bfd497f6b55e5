#include "fovea/data/formats/read_sound.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"

#ifdef FOVEA_WITH_SNDFILE
#include <sndfile.h>
#endif

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr double kPassed = 0.92;   // of the frequencies that the lower rate can hold
constexpr double kCrossings = 32;  // zero crossings of the sinc to each side

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return std::abs(x) < 1e-9 ? 1 : std::sin(angle) / angle;
}

/// Blackman's window over -1 … 1.
double window(double x) {
  if (std::abs(x) >= 1) return 0;
  return 0.42 + 0.5 * std::cos(std::numbers::pi * x) + 0.08 * std::cos(2 * std::numbers::pi * x);
}

/// One filter: the weights of the input samples first … first + 2 reach - 1, where the output
/// stands `fraction` behind sample first + reach - 1.
void make_filter(double fraction, int64_t reach, double cutoff, float* weights) {
  std::vector<double> exact(size_t(2 * reach));
  for (int64_t i = 0; i < 2 * reach; ++i) {
    const double distance = fraction + double(reach - 1 - i);
    exact[size_t(i)] = sinc(cutoff * distance) * window(distance / double(reach));
  }
  const double sum = std::accumulate(exact.begin(), exact.end(), 0.0);
  for (size_t i = 0; i < exact.size(); ++i) weights[i] = float(exact[i] / sum);
}

}  // namespace

std::vector<float> resample(std::span<const float> samples, int64_t from, int64_t to) {
  require(from > 0 && to > 0, ErrorKind::InvalidArgument, "a sound of ", from,
          " samples a second cannot become one of ", to);
  if (from == to) return {samples.begin(), samples.end()};
  const int64_t shared = std::gcd(from, to), down = from / shared, up = to / shared;
  const auto length = int64_t(samples.size());
  const int64_t count = (length * up + down - 1) / down;
  const double cutoff = kPassed * std::min(1.0, double(to) / double(from));
  const auto reach = int64_t(std::ceil(kCrossings / cutoff));
  // Output k stands at k * down / up. Its fraction repeats after `up` outputs.
  const int64_t kinds = std::min(up, count);
  std::vector<float> filters(size_t(kinds * 2 * reach));
  for (int64_t kind = 0; kind < kinds; ++kind)
    make_filter(double(kind * down % up) / double(up), reach, cutoff,
                filters.data() + kind * 2 * reach);

  std::vector<float> result(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    const float* filter = filters.data() + k % up * 2 * reach;
    const int64_t first = k * down / up - reach + 1;
    const int64_t begin = std::max<int64_t>(0, -first);
    const int64_t end = std::min(2 * reach, length - first);
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += double(filter[i]) * samples[size_t(first + i)];
    result[size_t(k)] = float(sum);
  }
  return result;
}

#ifdef FOVEA_WITH_SNDFILE

namespace {

constexpr int64_t kSlowest = 4'000, kFastest = 192'000;  // samples of a second
constexpr int64_t kBlock = 4096;                         // samples of a channel read at a time

/// A file in memory, as libsndfile wants to see one.
struct Bytes {
  std::string_view bytes;
  sf_count_t at = 0;

  static Bytes& of(void* self) { return *static_cast<Bytes*>(self); }
  sf_count_t size() const { return sf_count_t(bytes.size()); }

  static sf_count_t length(void* self) { return of(self).size(); }
  static sf_count_t tell(void* self) { return of(self).at; }
  static sf_count_t write(const void*, sf_count_t, void*) { return 0; }
  static sf_count_t seek(sf_count_t offset, int whence, void* self) {
    Bytes& own = of(self);
    const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? own.at : own.size();
    own.at = std::clamp<sf_count_t>(from + offset, 0, own.size());
    return own.at;
  }
  static sf_count_t read(void* to, sf_count_t count, void* self) {
    Bytes& own = of(self);
    const sf_count_t taken = std::clamp<sf_count_t>(count, 0, own.size() - own.at);
    std::memcpy(to, own.bytes.data() + own.at, size_t(taken));
    own.at += taken;
    return taken;
  }
};

/// libsndfile's handle, which closes itself.
class File {
 public:
  File(Bytes& bytes, const std::string& where) : where_(where) {
    SF_VIRTUAL_IO functions{Bytes::length, Bytes::seek, Bytes::read, Bytes::write, Bytes::tell};
    handle_ = sf_open_virtual(&functions, SFM_READ, &info, &bytes);
    require(handle_ != nullptr, ErrorKind::BadData, where_,
            ": is no sound that can be read (WAV or FLAC, for example): ", sf_strerror(nullptr));
  }
  ~File() {
    if (handle_ != nullptr) sf_close(handle_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// The mean of the channels, all of it.
  std::vector<float> mono(int64_t most) {
    const auto channels = int64_t(info.channels);
    std::vector<float> block(size_t(kBlock * channels)), mono;
    for (;;) {
      const int64_t count = sf_readf_float(handle_, block.data(), kBlock);
      if (count <= 0) break;
      require(int64_t(mono.size()) + count <= most, ErrorKind::BadData, where_,
              ": is longer than data.longest_sound allows");
      for (int64_t i = 0; i < count; ++i) {
        float sum = 0;
        for (int64_t channel = 0; channel < channels; ++channel)
          sum += block[size_t(i * channels + channel)];
        require(std::isfinite(sum), ErrorKind::BadData, where_, ": sample ", mono.size(),
                " is not a finite number");
        mono.push_back(sum / float(channels));
      }
    }
    require(sf_error(handle_) == SF_ERR_NO_ERROR, ErrorKind::BadData, where_,
            ": is a damaged sound file: ", sf_strerror(handle_));
    return mono;
  }

  SF_INFO info{};

 private:
  std::string where_;
  SNDFILE* handle_ = nullptr;
};

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 4; i > 0; --i) number = number << 8 | static_cast<uint8_t>(bytes[at + i - 1]);
  return number;
}

/// libsndfile reads a WAV file that was cut off as far as it goes; its header tells. Who wrote into
/// a pipe did not know the size and left a very large one.
void check_whole(std::string_view bytes, const std::string& where) {
  constexpr uint32_t kUnknown = 0x7fff0000;
  constexpr size_t kHead = 8;  // bytes of a chunk's name and size
  if (!bytes.starts_with("RIFF")) return;
  for (size_t at = 12; at + kHead <= bytes.size();) {
    const uint32_t size = number_at(bytes, at + 4);
    const size_t left = bytes.size() - at - kHead;
    const bool is_sound = bytes.substr(at, 4) == "data";
    require(!is_sound || size >= kUnknown || size <= left, ErrorKind::BadData, where,
            ": ends too early, after ", format_count(int64_t(left)), " of ", format_count(size),
            " bytes of sound");
    if (is_sound || size > left) return;
    at += kHead + size + size % 2;
  }
}

/// Throws unless a sound of that size may be read; gives the most samples of a channel.
int64_t check_size(const SF_INFO& info, const std::string& where, const ReadSoundOptions& options) {
  require(info.channels >= 1 && info.samplerate >= kSlowest && info.samplerate <= kFastest,
          ErrorKind::BadData, where, ": has ", format_count(info.samplerate), " samples a second; ",
          format_count(kSlowest), " to ", format_count(kFastest), " can be read");
  require(info.frames > 0, ErrorKind::BadData, where,
          ": holds no samples; a sound has at least one");
  const auto most = int64_t(options.longest * double(info.samplerate));
  const bool says_length = info.frames < SF_COUNT_MAX;  // a FLAC stream may not know it
  require(!says_length || info.frames <= most, ErrorKind::BadData, where, ": lasts ",
          format_duration(double(info.frames) / info.samplerate), "; at most ",
          format_duration(options.longest), " are read (data.longest_sound)");
  return most;
}

}  // namespace

bool can_read_sounds() {
  return true;
}

Sound decode_sound(std::string_view bytes, const std::string& where,
                   const ReadSoundOptions& options) {
  require(!bytes.empty(), ErrorKind::BadData, where, ": is empty; expected a WAV or FLAC file");
  require(int64_t(bytes.size()) <= options.largest_file, ErrorKind::BadData, where, ": has ",
          format_count(int64_t(bytes.size())), " bytes; at most ",
          format_count(options.largest_file), " are read");
  check_whole(bytes, where);
  Bytes source{bytes};
  File file(source, where);
  const int64_t most = check_size(file.info, where, options);
  const std::vector<float> mono = file.mono(most);
  require(!mono.empty(), ErrorKind::BadData, where, ": holds no samples; a sound has at least one");
  require(file.info.frames == SF_COUNT_MAX || int64_t(mono.size()) == file.info.frames,
          ErrorKind::BadData, where, ": ends after ", format_count(int64_t(mono.size())), " of ",
          format_count(file.info.frames), " samples");
  Sound sound{{}, options.rate};
  for (const float value : resample(mono, file.info.samplerate, options.rate))
    sound.samples.push_back(sample_of(value));
  return sound;
}

#else

bool can_read_sounds() {
  return false;
}

Sound decode_sound(std::string_view, const std::string& where, const ReadSoundOptions&) {
  fail(ErrorKind::Unsupported, where,
       ": this build cannot read sounds; install libsndfile1-dev and build with "
       "FOVEA_WITH_SNDFILE=ON");
}

#endif

Sound read_sound(const fs::path& path, const ReadSoundOptions& options) {
  return decode_sound(read_small_file(path, options.largest_file), path.string(), options);
}

}  // namespace fovea
