// Time that this process has computed, over all of its threads. A bound on it holds on a busy
// machine too, where the time on the wall is that of others.
#pragma once

#include <ctime>

namespace fovea::testing {

inline double cpu_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace fovea::testing
