// Bits that follow the bits before them: of each context of N - 1 bits a 1 comes next with a
// probability from Beta(1/2, 1/2), drawn anew for each sequence. Each bit is due in the step before
// it comes in. As text "01101…".
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/data/copies/symbols.h"

namespace fovea {

namespace {

void check_ngrams(const CopyDraw& options, int64_t, int64_t) {
  require(options.bits == 1, ErrorKind::InvalidArgument,
          "data.kind=ngrams has symbols of 1 bit; found data.bits=", options.bits);
  require(options.order >= 1 && options.order <= kMostOrder, ErrorKind::InvalidArgument,
          "data.order=", options.order, "; expected 1 to ", kMostOrder);
}

/// The first N - 1 bits have no context: both values are as likely.
CopyRow draw_ngrams(const CopySize& size, const CopyDraw& options, const Random& random) {
  const int64_t context_bits = options.order - 1, contexts = int64_t{1} << context_bits;
  const Random table = random.split("table"), draws = random.split("bits");
  CopyRow row;
  int64_t context = 0;
  for (int64_t i = 0; i < size.length; ++i) {
    // The arcsine law is Beta(1/2, 1/2).
    const double root = std::sin(std::numbers::pi / 2 * table.uniform(uint64_t(context)));
    const double p = i < context_bits ? 0.5 : root * root;
    const int64_t bit = draws.uniform(uint64_t(i)) < p;
    row.symbols.push_back(bit);
    context = (2 * context + bit) % contexts;
  }
  return row;
}

std::vector<CopyStep> ngram_steps(const CopyRow& row, const CopyLayout&) {
  std::vector<CopyStep> steps;
  for (size_t i = 0; i < row.symbols.size(); ++i) {
    CopyStep step{.due = row.symbols[i]};
    if (i == 0)
      step.marks[0] = 1, step.name = "begin";
    else
      step.shown = row.symbols[i - 1];
    steps.push_back(std::move(step));
  }
  return steps;
}

CopyRow parse_ngrams(std::string_view text, int64_t& bits, const std::string& where) {
  require(bits <= 1, ErrorKind::BadData, where, ": bits are read, this run has symbols of ", bits);
  bits = 1;
  CopyRow row;
  for (const char letter : text) {
    if (letter == ' ' || letter == '\t') continue;
    require(letter == '0' || letter == '1', ErrorKind::BadData, where, ": '", letter,
            "' is no bit; expected digits 0 or 1, such as 0110100");
    require(int64_t(row.symbols.size()) < kMostSequenceSymbols, ErrorKind::BadData, where,
            ": more than ", format_count(kMostSequenceSymbols), " bits");
    row.symbols.push_back(letter == '1');
  }
  require(!row.symbols.empty(), ErrorKind::BadData, where,
          ": holds no bit; expected digits 0 or 1, such as 0110100");
  return row;
}

std::string format_bits(const CopyRow& row, int64_t) {
  std::string text;
  for (const int64_t bit : row.symbols) text += bit ? '1' : '0';
  return text;
}

}  // namespace

const CopyKind& ngrams_kind() {
  static const CopyKind kind{.name = "ngrams",
                             .counts = "bits",
                             .answer = "guesses",
                             .is_guess = true,
                             .between = "",
                             .bits = 1,
                             .shortest = 200,
                             .longest = 200,
                             .test_lengths = {200},
                             .options = {"order"},
                             .check = check_ngrams,
                             .draw = draw_ngrams,
                             .steps = ngram_steps,
                             .format = format_bits,
                             .parse = parse_ngrams};
  return kind;
}

}  // namespace fovea
