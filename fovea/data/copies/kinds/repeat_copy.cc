// Symbols, then a step that says how often, as a number of mean 0 and variance 1 over the training
// rows; then they are due as often, and an end. As text "0110 1011 x3".
#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/copies/symbols.h"

namespace fovea {

namespace {

std::vector<CopyStep> repeat_copy_steps(const CopyRow& row, const CopyLayout& layout) {
  std::vector<CopyStep> steps;
  for (const int64_t symbol : row.symbols) steps.push_back({.shown = symbol});
  const double number = (double(row.repeats) - layout.repeats_mean) / layout.repeats_deviation;
  steps.push_back({.marks = {1, float(number)}, .name = concat("x", row.repeats)});
  for (int64_t repeat = 0; repeat < row.repeats; ++repeat)
    for (size_t i = 0; i < row.symbols.size(); ++i)
      steps.push_back({.due = row.symbols[i], .source = int64_t(i), .sources = 1});
  steps.push_back({.due = int64_t{1} << layout.bits});
  return steps;
}

CopyRow parse_repeat_copy(std::string_view text, int64_t& bits, const std::string& where) {
  const size_t cross = text.rfind('x');
  int64_t repeats = 0;
  const bool is_said = cross != std::string_view::npos &&
                       parse_integer(trim(text.substr(cross + 1)), repeats) && repeats >= 1;
  require(is_said, ErrorKind::BadData, where, ": '", shorten_bytes(text, 2 * kMostSymbolBits),
          "' does not say how often; expected symbols and then x and a number, such as ",
          format_symbol(6, bits == 0 ? 4 : bits), " x3");
  CopyRow row{parse_sequence(text.substr(0, cross), bits, where), repeats};
  require(repeats <= kMostSequenceSymbols / int64_t(row.symbols.size()), ErrorKind::BadData, where,
          ": ", row.symbols.size(), " symbols ", format_count(repeats), " times are more than ",
          format_count(kMostSequenceSymbols));
  return row;
}

}  // namespace

const CopyKind& repeat_copy_kind() {
  static const CopyKind kind{
      .name = "repeat-copy",
      .counts = "symbols",
      .answer = "copies",
      .marks = 2,
      .repeats = true,
      .has_truth = true,
      .longest = 10,
      .test_lengths = {10, 20},
      .options = {"fewest_repeats", "most_repeats", "test_repeats"},
      .draw = [](const CopySize& size, const CopyDraw& options, const Random& random) -> CopyRow {
        return {draw_sequence(size.length, options.bits, random), size.repeats};
      },
      .size_of = [](const CopyRow& row) -> CopySize {
        return {int64_t(row.symbols.size()), row.repeats};
      },
      .steps = repeat_copy_steps,
      .format =
          [](const CopyRow& row, int64_t bits) {
            return concat(format_sequence(row.symbols, bits), " x", row.repeats);
          },
      .parse = parse_repeat_copy};
  return kind;
}

}  // namespace fovea
