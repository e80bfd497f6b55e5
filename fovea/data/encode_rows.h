// Rows encoded side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/data/rows.h"
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

/// add(row, encode(row)) for each row, in their order; some are encoded side by side. An error says
/// which row it is: "<where>, <what> 3: …".
template <class Row, class Encode, class Add>
void encode_rows(Rows<Row> rows, const std::string& where, const char* what, const Encode& encode,
                 const Add& add) {
  int64_t before = 0;
  rows.take_blocks([&](std::span<Row> block) {
    std::vector<decltype(encode(block[0]))> encoded(block.size());
    for_each_row(int64_t(block.size()), [&](int64_t row) {
      try {
        encoded[size_t(row)] = encode(block[size_t(row)]);
      } catch (const Error& error) {
        fail(error.kind(), where, ", ", what, " ", before + row + 1, ": ", error.what());
      }
    });
    for (size_t row = 0; row < block.size(); ++row)
      add(std::move(block[row]), std::move(encoded[row]));
    before += int64_t(block.size());
  });
}

}  // namespace fovea
