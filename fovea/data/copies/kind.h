// The five tasks of the neural Turing machine (Graves et al. 2014), as kinds of one data set. A row
// becomes steps; in each some numbers come in, and in some a symbol is due.
//   copy                symbols, "now", then the symbols again
//   repeat-copy         symbols, "now" and how often, then the symbols as often and an end
//   associative-recall  items of some symbols, then one of them again: the item after it is due
//   ngrams              bits: before each of them it is due
//   priority-sort       symbols with priorities, "now", then those with the highest, in order
// kinds/NAME.cc has one of them, kind.cc the table.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/tensor/random.h"

namespace fovea {

using CopySequence = std::vector<int64_t>;  // symbols, each 0 … 2^bits - 1

/// A row of any kind; of what its kind has not, it holds what stands here.
struct CopyRow {
  CopySequence symbols;
  int64_t repeats = 1;
  int64_t items = 1, query = 0;        // associative recall: of as many symbols each
  std::vector<float> priorities = {};  // one for each symbol
  bool operator==(const CopyRow&) const = default;
};

/// How long a row is, in what its kind counts.
struct CopySize {
  int64_t length = 0, repeats = 1;
  auto operator<=>(const CopySize&) const = default;
};

struct CopyKind;

/// How rows become steps.
struct CopyLayout {
  const CopyKind* kind = nullptr;
  int64_t bits = 0;                                // of a symbol; 0: not known yet
  int64_t highest = 16;                            // priority sort: so many are put out
  double repeats_mean = 0, repeats_deviation = 1;  // repeat copy: of the training rows

  int64_t inputs() const;   // numbers of a step
  int64_t outputs() const;  // bits that are put out in a step
};

/// What a generator must know besides a row's size.
struct CopyDraw {
  int64_t bits = 0, item_length = 0, order = 0;
};

struct CopyStep {
  static constexpr int64_t kNone = -1;
  int64_t shown = kNone;            // symbol that comes in
  int64_t due = kNone;              // symbol that is to be put out
  std::array<float, 2> marks = {};  // numbers beside the bits
  std::string name = {};            // of a step that shows no symbol: "now"
  int64_t source = 0, sources = 0;  // what is due was heard in so many steps from this one on
};

struct CopyKind {
  const char* name;
  const char* counts;         // by a row's length: "symbols"
  const char* answer;         // what is put out: "copy"
  int64_t marks = 1;          // numbers of a step beside the bits, at most 2
  bool repeats = false;       // symbols are put out several times, then an end: one bit more
  bool is_guess = false;      // of what comes next, which nobody can know
  bool in_bits = true;        // the cost of a sequence in bits decides; of copy the loss, as ever
  bool has_truth = false;     // it is known in which steps the symbol that is due was heard
  const char* between = " ";  // symbols that are put out, as text
  // Of the paper, where an option is 0 or empty.
  int64_t bits = 8, shortest = 1, longest;
  std::vector<int64_t> test_lengths;
  std::vector<const char*> options = {};  // of the generator, that this kind alone has

  /// InvalidArgument for rows of these lengths that cannot be drawn; may be null.
  void (*check)(const CopyDraw& options, int64_t fewest, int64_t most) = nullptr;
  CopyRow (*draw)(const CopySize& size, const CopyDraw& options, const Random& random);
  CopySize (*size_of)(const CopyRow& row) = [](const CopyRow& row) -> CopySize {
    return {int64_t(row.symbols.size())};
  };
  std::vector<CopyStep> (*steps)(const CopyRow& row, const CopyLayout& layout);
  std::string (*format)(const CopyRow& row, int64_t bits);
  /// BadData, beginning with `where`, for what is no such row. 0 bits: as many as the first symbol
  /// has, which `bits` is then set to.
  CopyRow (*parse)(std::string_view text, int64_t& bits, const std::string& where);
};

/// The values of data.kind, the usual one first.
std::vector<std::string> copy_kinds();
/// InvalidArgument where there is none of this name.
const CopyKind& copy_kind(const std::string& name);

// One in each file of kinds/.
const CopyKind& copy_symbols_kind();
const CopyKind& repeat_copy_kind();
const CopyKind& associative_recall_kind();
const CopyKind& ngrams_kind();
const CopyKind& priority_sort_kind();

}  // namespace fovea
