#include "fovea/data/copies/synthetic.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr int64_t kMostSymbols = 1 << 28;  // of all sequences together, at most

void check_sizes(const SyntheticCopiesOptions& options, const CopyKind& kind) {
  require(options.bits >= 1 && options.bits <= kMostSymbolBits && options.shortest >= 1 &&
              options.shortest <= options.longest && options.longest <= kMostSequenceSymbols,
          ErrorKind::InvalidArgument, "sequences of ", options.shortest, " to ", options.longest,
          " ", kind.counts, " of ", options.bits, " bits cannot be drawn; bits are 1 to ",
          kMostSymbolBits, ", ", kind.counts, " 1 to ", format_count(kMostSequenceSymbols),
          ", data.shortest is at most data.longest");
  double symbols = double(options.rows + options.validation_rows) * double(options.longest);
  for (const int64_t length : options.test_lengths) {
    require(length >= 1 && length <= kMostSequenceSymbols, ErrorKind::InvalidArgument,
            "data.test_lengths: ", length, " ", kind.counts, "; expected 1 to ",
            format_count(kMostSequenceSymbols));
    symbols += double(options.test_rows) * double(length);
  }
  require(options.rows >= 0 && options.validation_rows >= 0 && options.test_rows >= 0 &&
              symbols <= double(kMostSymbols),
          ErrorKind::InvalidArgument, format_count(options.rows),
          " sequences cannot be drawn; all ", "together have at most ", format_count(kMostSymbols),
          " symbols");
}

void check_repeats(const SyntheticCopiesOptions& options, int64_t longest) {
  require(1 <= options.fewest_repeats && options.fewest_repeats <= options.most_repeats &&
              !options.test_repeats.empty(),
          ErrorKind::InvalidArgument, "sequences cannot be repeated ", options.fewest_repeats,
          " to ", options.most_repeats, " times; expected data.fewest_repeats of at least 1 and ",
          "at most data.most_repeats, and a number in data.test_repeats");
  int64_t most = options.most_repeats;
  for (const int64_t repeats : options.test_repeats) {
    require(repeats >= 1, ErrorKind::InvalidArgument, "data.test_repeats: ", repeats,
            " times; expected at least 1");
    most = std::max(most, repeats);
  }
  require(most <= kMostSequenceSymbols / longest, ErrorKind::InvalidArgument, longest,
          " symbols cannot be repeated ", format_count(most), " times; together at most ",
          format_count(kMostSequenceSymbols));
}

void check(const SyntheticCopiesOptions& options) {
  const CopyKind& kind = copy_kind(options.kind);
  check_sizes(options, kind);
  int64_t fewest = options.shortest, most = options.longest;
  for (const int64_t length : options.test_lengths)
    fewest = std::min(fewest, length), most = std::max(most, length);
  if (kind.repeats) check_repeats(options, most);
  if (kind.check) kind.check(options.draw(), fewest, most);
  require(options.highest >= 1, ErrorKind::InvalidArgument, "data.highest=", options.highest,
          "; expected at least 1");
}

/// From `low` to `high`.
int64_t draw_between(int64_t low, int64_t high, const Random& random) {
  return low + int64_t(random.below(0, uint64_t(high - low + 1)));
}

}  // namespace

void SyntheticCopiesOptions::describe(OptionList& list) {
  list.add("kind", kind, "which task of Graves et al. 2014").choices(copy_kinds());
  list.add("rows", rows, "built-in data: training sequences of an epoch").at_least(2);
  list.add("validation_rows", validation_rows, "built-in data: number of validation sequences")
      .at_least(0);
  list.add("test_rows", test_rows, "built-in data: number of test sequences of each length")
      .at_least(0);
  list.add("test_lengths", test_lengths,
           "built-in data: lengths of the test sequences; none: the paper's");
  list.add("bits", bits, "built-in data: bits of a symbol; 0: 8, of associative-recall 6")
      .within(0, kMostSymbolBits);
  list.add("shortest", shortest,
           "built-in data: fewest symbols, items or bits of a training sequence; 0: the paper's")
      .within(0, kMostSequenceSymbols);
  list.add("longest", longest,
           "built-in data: most symbols, items or bits of a training sequence; 0: the paper's")
      .within(0, kMostSequenceSymbols);
  list.add("fewest_repeats", fewest_repeats, "repeat-copy: how often at least, in training")
      .at_least(1);
  list.add("most_repeats", most_repeats, "repeat-copy: how often at most, in training").at_least(1);
  list.add("test_repeats", test_repeats,
           "repeat-copy: how often in the test, each number with each of data.test_lengths");
  list.add("item_length", item_length, "associative-recall: symbols of an item").at_least(1);
  list.add("order", order, "ngrams: N, a bit follows from the N - 1 before it")
      .within(1, kMostOrder);
  list.add("highest", highest, "priority-sort: so many are put out").at_least(1);
  list.add("seed", seed,
           "built-in data: seed of the sequences; the training seed does not change them")
      .at_least(0);
}

SyntheticCopiesOptions SyntheticCopiesOptions::resolved() const {
  const CopyKind& own = copy_kind(kind);
  SyntheticCopiesOptions options = *this;
  if (bits == 0) options.bits = own.bits;
  if (longest == 0) options.longest = std::max(own.longest, shortest);
  if (shortest == 0) options.shortest = std::min(own.shortest, options.longest);
  if (test_lengths.empty()) options.test_lengths = own.test_lengths;
  return options;
}

Json SyntheticCopiesOptions::json() const {
  Json json = options_json(resolved());
  for (const std::string& name : copy_kinds())
    for (const char* option : copy_kind(name).options)
      if (name != kind) json.erase(option);
  if (kind == SyntheticCopiesOptions().kind) json.erase("kind");  // which once was the only one
  return json;
}

SplitRows<CopyRow> draw_copies(const SyntheticCopiesOptions& given) {
  const SyntheticCopiesOptions options = given.resolved();
  check(options);
  const CopyKind& kind = copy_kind(options.kind);
  const Random random = Random(uint64_t(options.seed)).split("copies");
  const auto draw = [&](const char* split, int64_t rows) {
    std::vector<CopyRow> drawn;
    for (int64_t row = 0; row < rows; ++row) {
      const Random own = random.split(split).split(uint64_t(row));
      CopySize size{draw_between(options.shortest, options.longest, own.split("length"))};
      if (kind.repeats)
        size.repeats =
            draw_between(options.fewest_repeats, options.most_repeats, own.split("repeats"));
      drawn.push_back(kind.draw(size, options.draw(), own));
    }
    return drawn;
  };
  SplitRows<CopyRow> drawn;
  drawn.train = draw("train", options.rows);
  drawn.validation = draw("validation", options.validation_rows);
  for (const int64_t length : options.test_lengths)
    for (const int64_t times : kind.repeats ? options.test_repeats : std::vector<int64_t>{1})
      for (int64_t row = 0; row < options.test_rows; ++row) {
        Random own = random.split("test").split(uint64_t(length)).split(uint64_t(row));
        if (kind.repeats) own = own.split(uint64_t(times));
        drawn.test.push_back(kind.draw({length, times}, options.draw(), own));
      }
  drawn.hash = hash_of_built_in("copy", options.json());
  drawn.notes.push_back(concat(
      format_count(options.rows), " sequences of ", options.shortest, " to ", options.longest, " ",
      kind.counts, kind.bits > 1 ? concat(" of ", options.bits, " bits") : "",
      kind.repeats ? concat(", ", options.fewest_repeats, " to ", options.most_repeats, " times,")
                   : "",
      " an epoch"));
  return drawn;
}

}  // namespace fovea
