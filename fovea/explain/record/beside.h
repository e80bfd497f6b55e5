// Two records of the same rows, by two networks, as one: the answers of the second beside those of
// the first, and on which rows which of them is right.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/explain/record/rows.h"

namespace fovea {

/// Of numbers: "right" is nearer to the truth, "both" as near.
struct BesideCounts {
  std::string first, second;  // names of the runs
  int64_t both = 0, only_first = 0, only_second = 0, neither = 0;
  int64_t differ = 0;  // rows with two different answers
  double p = 1;        // McNemar's exact test; of numbers the sign test, which is the same
  bool numbers = false;

  Json to_json() const;
  std::string text() const;  // a table for people
};

/// Adds columns of the roles beside_answer, beside_right, beside_probability and agreement to
/// `record`, as docs/formats/rows.md has them. InvalidArgument, with what differs, for records of
/// different tasks, kinds of answers, classes or rows.
BesideCounts put_beside(RowsRecord& record, const RowsRecord& other);

}  // namespace fovea
