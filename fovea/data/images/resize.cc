#include "fovea/data/images/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {

namespace {

/// What one new pixel is made of, along one direction: old pixels first … and their shares.
struct Mixture {
  int64_t first = 0;
  std::vector<float> shares;
};

/// The share of the old pixels that a new one covers.
Mixture covered(double begin, double end, int64_t size) {
  Mixture mixture{std::min(int64_t(begin), size - 1), {}};
  for (int64_t old = mixture.first; old < size && double(old) < end; ++old) {
    const double covered = std::min(end, double(old + 1)) - std::max(begin, double(old));
    mixture.shares.push_back(float(covered / (end - begin)));
  }
  return mixture;
}

/// The two old pixels around a place, or the last one beyond the border.
Mixture between(double place, int64_t size) {
  const double inside = std::clamp(place, 0.0, double(size - 1));
  const auto first = std::min(int64_t(inside), std::max<int64_t>(size - 2, 0));
  const auto share = float(inside - double(first));
  return size == 1 ? Mixture{0, {1}} : Mixture{first, {1 - share, share}};
}

/// A row of the table of filters: the weight of an old pixel by its distance, in new pixels where
/// the picture shrinks and in old ones where it grows.
struct ResampleFilter {
  const char* name;
  double support;  // weights are 0 beyond
  double (*weight)(double distance);
};

double triangle(double x) {
  return std::max(0.0, 1 - std::abs(x));
}

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double windowed_sinc(double x) {
  const auto sinc = [](double at) {
    return at == 0 ? 1 : std::sin(std::numbers::pi * at) / (std::numbers::pi * at);
  };
  return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

constexpr ResampleFilter kFilters[] = {
    {"bilinear", 1, triangle}, {"bicubic", 2, cubic}, {"lanczos", 3, windowed_sinc}};

/// The old pixels around the place of a new one.
Mixture weighted(const ResampleFilter& filter, double middle, double scale, int64_t size) {
  const double widening = std::max(1.0, scale), reach = filter.support * widening;
  const auto first = std::max<int64_t>(0, int64_t(middle - reach + 0.5));
  const auto end = std::min<int64_t>(size, int64_t(middle + reach + 0.5));
  std::vector<double> weights;
  double sum = 0;
  for (int64_t old = first; old < end; ++old) {
    weights.push_back(filter.weight((double(old) + 0.5 - middle) / widening));
    sum += weights.back();
  }
  Mixture mixture{first, {}};
  for (const double weight : weights) mixture.shares.push_back(float(weight / sum));
  return mixture;
}

std::vector<Mixture> mixtures(int64_t from, int64_t to, const std::string& filter) {
  const double scale = double(from) / double(to);
  std::vector<Mixture> result;
  const auto known =
      std::ranges::find_if(kFilters, [&](const ResampleFilter& one) { return one.name == filter; });
  if (known != std::end(kFilters) || filter == "nearest") {
    for (int64_t i = 0; i < to; ++i) {
      const double middle = (double(i) + 0.5) * scale;
      result.push_back(filter == "nearest" ? Mixture{std::min(int64_t(middle), from - 1), {1}}
                                           : weighted(*known, middle, scale, from));
    }
    return result;
  }
  require(filter == "area", ErrorKind::InvalidArgument, "pictures are not resized by '", filter,
          "'; known: ", join(filter_names()));
  for (int64_t i = 0; i < to; ++i)
    result.push_back(to < from ? covered(double(i) * scale, double(i + 1) * scale, from)
                               : between((double(i) + 0.5) * scale - 0.5, from));
  return result;
}

/// [height, width, C] -> [height, columns, C], as numbers.
std::vector<float> mix_columns(const Image& image, const std::vector<Mixture>& columns) {
  const int64_t channels = image.channels;
  std::vector<float> result(size_t(image.height) * columns.size() * size_t(channels), 0);
  float* to = result.data();
  for (int64_t y = 0; y < image.height; ++y)
    for (const Mixture& mixture : columns) {
      const uint8_t* from = &image.pixels[size_t((y * image.width + mixture.first) * channels)];
      for (size_t i = 0; i < mixture.shares.size(); ++i)
        for (int64_t channel = 0; channel < channels; ++channel)
          to[channel] += mixture.shares[i] * float(from[int64_t(i) * channels + channel]);
      to += channels;
    }
  return result;
}

/// [H, row] -> [rows, row], rounded.
void mix_rows(const std::vector<float>& from, const std::vector<Mixture>& rows, Image& image) {
  const auto length = size_t(image.width * image.channels);
  std::vector<float> sum(length);
  for (size_t y = 0; y < rows.size(); ++y) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (size_t i = 0; i < rows[y].shares.size(); ++i) {
      const float* row = &from[(size_t(rows[y].first) + i) * length];
      for (size_t x = 0; x < length; ++x) sum[x] += rows[y].shares[i] * row[x];
    }
    for (size_t x = 0; x < length; ++x)
      image.pixels[y * length + x] = uint8_t(std::clamp(std::lround(sum[x]), 0L, 255L));
  }
}

Image centre_crop(const Image& image, int64_t height, int64_t width) {
  const int64_t top = (image.height - height) / 2, left = (image.width - width) / 2;
  Image crop = make_image(height, width, image.channels);
  const auto row = width * image.channels;
  for (int64_t y = 0; y < height; ++y)
    std::copy_n(&image.pixels[size_t(((top + y) * image.width + left) * image.channels)], row,
                &crop.pixels[size_t(y * row)]);
  return crop;
}

/// Height and width of the largest crop with a shape: all of one side, and of the other what fits.
std::pair<int64_t, int64_t> largest_crop(const Image& image, int64_t height, int64_t width) {
  const auto at_most = [](int64_t most, int64_t other, int64_t wanted, int64_t per) {
    const auto fitting = int64_t(std::llround(double(other * wanted) / double(per)));
    return std::max<int64_t>(1, std::min(most, fitting));
  };
  return {at_most(image.height, image.width, height, width),
          at_most(image.width, image.height, width, height)};
}

}  // namespace

Image resize(const Image& image, int64_t height, int64_t width, const std::string& filter) {
  require(image.height > 0 && image.width > 0 && height > 0 && width > 0,
          ErrorKind::InvalidArgument, "a picture of ", image.width, " x ", image.height,
          " cannot become one of ", width, " x ", height);
  if (image.height == height && image.width == width) return image;
  Image result = make_image(height, width, image.channels);
  result.animated = image.animated;
  mix_rows(mix_columns(image, mixtures(image.width, width, filter)),
           mixtures(image.height, height, filter), result);
  return result;
}

Image resize_and_crop(const Image& image, int64_t height, int64_t width,
                      const std::string& filter) {
  const auto [crop_height, crop_width] = largest_crop(image, height, width);
  Image result = resize(centre_crop(image, crop_height, crop_width), height, width, filter);
  result.animated = image.animated;
  return result;
}

int64_t pixels_left_out(const Image& image, int64_t height, int64_t width, const std::string& fit) {
  if (fit != "crop") return 0;
  const auto [crop_height, crop_width] = largest_crop(image, height, width);
  return image.height * image.width - crop_height * crop_width;
}

Image letterbox(const Image& image, int64_t height, int64_t width, const std::string& filter) {
  const double scale =
      std::min(double(height) / double(image.height), double(width) / double(image.width));
  const auto scaled = [&](int64_t size, int64_t most) {
    return std::clamp<int64_t>(std::llround(double(size) * scale), 1, most);
  };
  const Image inner =
      resize(image, scaled(image.height, height), scaled(image.width, width), filter);
  if (inner.height == height && inner.width == width) return inner;
  Image result = make_image(height, width, image.channels);
  result.animated = image.animated;
  for (int64_t channel = 0; channel < image.channels; ++channel) {
    double sum = 0;
    for (size_t i = size_t(channel); i < inner.pixels.size(); i += size_t(image.channels))
      sum += inner.pixels[i];
    const auto mean = uint8_t(std::lround(sum / double(inner.height * inner.width)));
    for (size_t i = size_t(channel); i < result.pixels.size(); i += size_t(image.channels))
      result.pixels[i] = mean;
  }
  const int64_t top = (height - inner.height) / 2, left = (width - inner.width) / 2;
  for (int64_t y = 0; y < inner.height; ++y)
    std::copy_n(&inner.pixels[size_t(y * inner.width * image.channels)],
                inner.width * image.channels, &result.at(top + y, left, 0));
  return result;
}

std::vector<std::string> fit_names() {
  return {"stretch", "crop", "letterbox"};
}

std::vector<std::string> filter_names() {
  std::vector<std::string> names{"area", "nearest"};
  for (const ResampleFilter& filter : kFilters) names.push_back(filter.name);
  return names;
}

Image fit_image(const Image& image, int64_t height, int64_t width, const std::string& fit,
                const std::string& filter) {
  if (fit == "stretch") return resize(image, height, width, filter);
  if (fit == "crop") return resize_and_crop(image, height, width, filter);
  if (fit == "letterbox") return letterbox(image, height, width, filter);
  fail(ErrorKind::InvalidArgument, "a picture cannot be '", fit,
       "' to its size; known: ", join(fit_names()));
}

}  // namespace fovea
