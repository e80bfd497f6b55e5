// What the generators of texts share: how many rows of each split there are, and rows that are all
// different.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/options.h"
#include "fovea/data/load.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct DrawOptions {
  int64_t rows = 0;  // training rows
  int64_t validation_rows = 0;
  int64_t test_rows = 0;
  int64_t seed = 1;  // of the data; the training seed does not change them

  /// First and last of a generator's options. `what` the rows are: "sentences".
  void describe_rows(OptionList& list, const std::string& what);
  void describe_seed(OptionList& list, const std::string& what);
  /// InvalidArgument for numbers that cannot be drawn.
  void check_rows(const std::string& what) const;
  /// "4,000 training, 500 validation and 500 test sentences".
  std::string counted(const std::string& what) const;
};

/// Draws rows of which no text was there before, so that none is in two splits. `stream` names the
/// random numbers; `write(random)` gives a row; `texts_of(row)` what must be new in it, nothing for
/// a row that is of no use. InvalidArgument when there are not as many, ending in `exhausted`:
/// "sentences of 2 clauses; …".
template <class Write, class TextsOf>
auto draw_different(const DrawOptions& options, const char* stream, const std::string& exhausted,
                    const Write& write, const TextsOf& texts_of) {
  constexpr int kMostTries = 1000;  // for one more row
  const Random random = Random(uint64_t(options.seed)).split(stream);
  using Row = decltype(write(random));
  std::unordered_set<std::string> seen;
  int64_t drawn = 0;
  const auto draw_split = [&](int64_t count, const char* name) {
    const Random own = random.split(name);
    std::vector<Row> rows;
    int failures = 0;
    for (uint64_t attempt = 0; int64_t(rows.size()) < count; ++attempt) {
      require(failures < kMostTries, ErrorKind::InvalidArgument, "after ", format_count(drawn),
              " there are no more different ", exhausted);
      Row row = write(own.split(attempt));
      const std::vector<std::string> texts = texts_of(row);
      const bool is_new =
          !texts.empty() &&
          std::none_of(texts.begin(), texts.end(), [&](auto& text) { return seen.contains(text); });
      failures = is_new ? 0 : failures + 1;
      if (!is_new) continue;
      seen.insert(texts.begin(), texts.end());
      rows.push_back(std::move(row));
      ++drawn;
    }
    return rows;
  };
  SplitRows<Row> splits;
  // The small splits first: they stay the same however many training rows are drawn.
  splits.test = draw_split(options.test_rows, "test");
  splits.validation = draw_split(options.validation_rows, "validation");
  splits.train = draw_split(options.rows, "train");
  return splits;
}

}  // namespace fovea
