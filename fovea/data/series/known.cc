#include "fovea/data/series/known.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

namespace {

constexpr size_t kMostLevels = 100;

}  // namespace

SeriesScale fit_series_scale(std::span<const double> values, bool* constant) {
  double sum = 0, squares = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  int64_t count = 0;
  for (const double value : values)
    if (!std::isnan(value)) {
      sum += value, ++count;
      low = std::min(low, value), high = std::max(high, value);
    }
  // By its values, not by its deviation: rounding gives 0.1, 0.1, 0.1 a deviation above 0.
  const bool same = count == 0 || low == high;
  if (constant) *constant = same;
  if (same) return {count == 0 ? 0 : low, 1};
  SeriesScale scale{sum / double(count), 1};
  for (const double value : values)
    if (!std::isnan(value)) squares += (value - scale.mean) * (value - scale.mean);
  scale.deviation = std::sqrt(squares / double(count));
  return scale;
}

KnownColumn fit_known_column(const std::string& name, bool is_static,
                             std::span<const std::string_view> cells,
                             std::vector<std::string>& notes) {
  KnownColumn column{name, is_static, {}};
  std::vector<double> numbers;
  std::map<std::string, int64_t> words;
  for (const std::string_view raw : cells) {
    const std::string_view cell = trim_cell(raw);
    if (is_missing(cell)) continue;
    double number = 0;
    if (parse_cell(cell, number)) numbers.push_back(number);
    ++words[std::string(cell)];
  }
  require(!words.empty(), ErrorKind::BadData, "column '", name, "' has no values");
  int64_t filled = 0;
  for (const auto& [word, count] : words) filled += count;
  if (int64_t(numbers.size()) == filled) {
    column.scale = fit_series_scale(numbers);
    return column;
  }
  std::vector<std::pair<int64_t, std::string>> by_count;
  for (const auto& [word, count] : words) by_count.emplace_back(-count, word);
  std::sort(by_count.begin(), by_count.end());
  if (by_count.size() > kMostLevels) {
    notes.push_back(concat("column '", name, "' has ", format_count(int64_t(by_count.size())),
                           " different words; the ", kMostLevels, " most frequent are told apart"));
    by_count.resize(kMostLevels);
  }
  for (const auto& [count, word] : by_count) column.levels.push_back(word);
  sort_naturally(column.levels);
  return column;
}

void encode_known_cell(const KnownColumn& column, std::string_view cell, const std::string& place,
                       float* to) {
  cell = trim_cell(cell);
  std::fill_n(to, column.width(), 0.f);
  if (is_missing(cell)) return;
  if (column.levels.empty()) {
    double number = 0;
    require(parse_cell(cell, number), ErrorKind::BadData, place, ": column '", column.name,
            "' is '", cell, "', a number is expected");
    *to = float((number - column.scale.mean) / column.scale.deviation);
    return;
  }
  const auto found = std::find(column.levels.begin(), column.levels.end(), cell);
  if (found != column.levels.end()) to[found - column.levels.begin()] = 1;
}

Json decode_known_cell(const KnownColumn& column, const float* from) {
  if (column.levels.empty()) return double(*from) * column.scale.deviation + column.scale.mean;
  for (size_t i = 0; i < column.levels.size(); ++i)
    if (from[i] > 0.5f) return column.levels[i];
  return nullptr;
}

}  // namespace fovea
