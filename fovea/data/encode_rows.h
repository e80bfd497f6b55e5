// Rows encoded side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

/// job(row) for 0 … rows - 1, on all threads.
template <class Job>
void for_each_row(int64_t rows, const Job& job) {
  constexpr int64_t kTogether = 128;  // rows of one task
  run_parallel((rows + kTogether - 1) / kTogether, [&](int64_t task) {
    const int64_t end = std::min(rows, (task + 1) * kTogether);
    for (int64_t row = task * kTogether; row < end; ++row) job(row);
  });
}

/// Likewise; an error says which row it is: "<where>, <what> 3: …".
template <class Job>
void encode_each_row(int64_t rows, const std::string& where, const char* what, const Job& job) {
  for_each_row(rows, [&](int64_t row) {
    try {
      job(row);
    } catch (const Error& error) {
      fail(error.kind(), where, ", ", what, " ", row + 1, ": ", error.what());
    }
  });
}

}  // namespace fovea
