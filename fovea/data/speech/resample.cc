#include "fovea/data/speech/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {

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

}  // namespace fovea
