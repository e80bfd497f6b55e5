// Symbols, each with a priority from -1 to 1, then "now"; then those with the highest priorities
// are due, the highest first. As text "0110@0.53 1011@-0.2".
#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/copies/symbols.h"

namespace fovea {

namespace {

CopyRow draw_sort(const CopySize& size, const CopyDraw& options, const Random& random) {
  CopyRow row{draw_sequence(size.length, options.bits, random)};
  const Random priorities = random.split("priorities");
  for (int64_t i = 0; i < size.length; ++i)
    row.priorities.push_back(float(2 * priorities.uniform(uint64_t(i)) - 1));
  return row;
}

std::vector<CopyStep> sort_steps(const CopyRow& row, const CopyLayout& layout) {
  std::vector<CopyStep> steps;
  for (size_t i = 0; i < row.symbols.size(); ++i)
    steps.push_back({.shown = row.symbols[i], .marks = {0, row.priorities[i]}});
  steps.push_back({.marks = {1, 0}, .name = "now"});
  std::vector<int64_t> order(row.symbols.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, [&](int64_t left, int64_t right) {
    return row.priorities[size_t(left)] > row.priorities[size_t(right)];
  });
  order.resize(std::min(order.size(), size_t(layout.highest)));
  for (const int64_t place : order)
    steps.push_back({.due = row.symbols[size_t(place)], .source = place, .sources = 1});
  return steps;
}

std::string format_sort(const CopyRow& row, int64_t bits) {
  std::vector<std::string> symbols;
  for (size_t i = 0; i < row.symbols.size(); ++i)
    symbols.push_back(
        concat(format_symbol(row.symbols[i], bits), "@", format_exact(row.priorities[i])));
  return join(symbols, " ");
}

CopyRow parse_sort(std::string_view text, int64_t& bits, const std::string& where) {
  CopyRow row;
  std::string symbols;
  for (const std::string_view piece : split_blanks(text)) {
    const size_t at = std::min(piece.find('@'), piece.size());
    double priority = 0;
    const bool is_said = at < piece.size() && parse_number(piece.substr(at + 1), priority) &&
                         priority >= -1 && priority <= 1;
    require(is_said, ErrorKind::BadData, where, ": '", shorten_bytes(piece, 2 * kMostSymbolBits),
            "' has no priority from -1 to 1; expected such as ",
            format_symbol(6, bits == 0 ? 4 : bits), "@0.53");
    row.priorities.push_back(float(priority));
    symbols += concat(symbols.empty() ? "" : " ", piece.substr(0, at));
  }
  row.symbols = parse_sequence(symbols, bits, where);
  require(row.symbols.size() == row.priorities.size(), ErrorKind::BadData, where, ": has ",
          row.priorities.size(), " priorities for ", row.symbols.size(), " symbols");
  return row;
}

}  // namespace

const CopyKind& priority_sort_kind() {
  static const CopyKind kind{.name = "priority-sort",
                             .counts = "symbols",
                             .answer = "sorted",
                             .marks = 2,
                             .has_truth = true,
                             .shortest = 20,
                             .longest = 20,
                             .test_lengths = {20},
                             .options = {"highest"},
                             .draw = draw_sort,
                             .steps = sort_steps,
                             .format = format_sort,
                             .parse = parse_sort};
  return kind;
}

}  // namespace fovea
