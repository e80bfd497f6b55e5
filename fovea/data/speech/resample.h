// The same sound at another rate. An output sample at time t, counted in input samples, is
//   y(t) = sum_k x_k c sinc(c (t - k)) w((t - k) / R)
// a sinc that lets pass what both rates can hold (c: the share of the input's frequencies), under
// Blackman's window w of reach R. Samples outside the sound count as 0. Of rates with a common
// divisor only a few different filters are needed; each sums to 1, so that a constant stays one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

/// ceil(samples * to / from) numbers; the same ones where the rates are equal.
std::vector<float> resample(std::span<const float> samples, int64_t from, int64_t to);

}  // namespace fovea
