// Texts among numbers or dates, such as "unknown": a few of them are missing values, not what the
// column is.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "fovea/base/text.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/named_cells.h"

namespace fovea {

struct StrayCells {
  static constexpr size_t kFewSpellings = 3;

  int64_t count = 0;
  std::string place;            // of the first
  std::set<std::string> words;  // one more than few at most

  void add(std::string_view cell, const CsvTable& table, int64_t row) {
    if (count++ == 0) place = table.place(row);
    if (words.size() <= kFewSpellings) words.emplace(cell);
  }
  bool are_few(int64_t present) const {
    constexpr double kFew = 0.05;
    return words.size() <= kFewSpellings && double(count) <= kFew * double(present);
  }
  std::vector<std::string> list() const { return {words.begin(), words.end()}; }
  /// "'unknown' (first at a.csv:17, 3 such cells) is taken as missing".
  std::string sentence() const {
    return concat(quoted_list(list()), " (first at ", place, ", ", format_count(count),
                  count == 1 ? " such cell" : " such cells", words.size() == 1 ? ") is" : ") are",
                  " taken as missing");
  }
};

}  // namespace fovea
