// The clock of deadlines.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace fovea::serving {

using Clock = std::chrono::steady_clock;

inline Clock::time_point seconds_from_now(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// For poll(): at least one millisecond while there is time left, at most an hour.
inline int milliseconds_until(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3600'000));
}

}  // namespace fovea::serving
