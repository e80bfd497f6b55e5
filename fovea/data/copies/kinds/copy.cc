// Symbols, a step that says "now", then as many steps in which they are due again.
#include "fovea/data/copies/symbols.h"

namespace fovea {

namespace {

std::vector<CopyStep> copy_steps(const CopyRow& row, const CopyLayout&) {
  std::vector<CopyStep> steps;
  for (const int64_t symbol : row.symbols) steps.push_back({.shown = symbol});
  steps.push_back({.marks = {1}, .name = "now"});
  for (const int64_t symbol : row.symbols)
    steps.push_back(
        {.due = symbol, .source = int64_t(steps.size() - row.symbols.size() - 1), .sources = 1});
  return steps;
}

}  // namespace

const CopyKind& copy_symbols_kind() {
  static const CopyKind kind{
      .name = "copy",
      .counts = "symbols",
      .answer = "copy",
      .in_bits = false,
      .longest = 20,
      .test_lengths = {20, 30, 50, 120},
      .draw = [](const CopySize& size, const CopyDraw& options, const Random& random) -> CopyRow {
        return {draw_sequence(size.length, options.bits, random)};
      },
      .steps = copy_steps,
      .format = [](const CopyRow& row, int64_t bits) { return format_sequence(row.symbols, bits); },
      .parse = [](std::string_view text, int64_t& bits, const std::string& where) -> CopyRow {
        return {parse_sequence(text, bits, where)};
      }};
  return kind;
}

}  // namespace fovea
