#include "fovea/data/copies/synthetic.h"

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr int64_t kMostBits = 32;
constexpr int64_t kLongest = 100'000;      // symbols of a sequence
constexpr int64_t kMostSymbols = 1 << 28;  // of all sequences together, at most

void check(const SyntheticCopiesOptions& options) {
  require(options.bits >= 1 && options.bits <= kMostBits && options.shortest >= 1 &&
              options.shortest <= options.longest && options.longest <= kLongest,
          ErrorKind::InvalidArgument, "sequences of ", options.shortest, " to ", options.longest,
          " symbols of ", options.bits, " bits cannot be drawn; bits are 1 to ", kMostBits,
          ", symbols 1 to ", format_count(kLongest), ", data.shortest is at most data.longest");
  double symbols = double(options.rows + options.validation_rows) * double(options.longest);
  for (const int64_t length : options.test_lengths) {
    require(length >= 1 && length <= kLongest, ErrorKind::InvalidArgument,
            "data.test_lengths: ", length, " symbols; expected 1 to ", format_count(kLongest));
    symbols += double(options.test_rows) * double(length);
  }
  require(options.rows >= 0 && options.validation_rows >= 0 && options.test_rows >= 0 &&
              symbols <= double(kMostSymbols),
          ErrorKind::InvalidArgument, format_count(options.rows),
          " sequences cannot be drawn; all ", "together have at most ", format_count(kMostSymbols),
          " symbols");
}

}  // namespace

void SyntheticCopiesOptions::describe(OptionList& list) {
  list.add("rows", rows, "built-in data: training sequences of an epoch").at_least(2);
  list.add("validation_rows", validation_rows, "built-in data: number of validation sequences")
      .at_least(0);
  list.add("test_rows", test_rows, "built-in data: number of test sequences of each length")
      .at_least(0);
  list.add("test_lengths", test_lengths, "built-in data: lengths of the test sequences");
  list.add("bits", bits, "built-in data: bits of a symbol").at_least(1).at_most(kMostBits);
  list.add("shortest", shortest, "built-in data: fewest symbols of a training sequence")
      .at_least(1)
      .at_most(kLongest);
  list.add("longest", longest, "built-in data: most symbols of a training sequence")
      .at_least(1)
      .at_most(kLongest);
  list.add("seed", seed,
           "built-in data: seed of the sequences; the training seed does not change them")
      .at_least(0);
}

CopySequence draw_sequence(int64_t length, int64_t bits, const Random& random) {
  CopySequence symbols;
  for (int64_t i = 0; i < length; ++i)
    symbols.push_back(int64_t(random.below(uint64_t(i), uint64_t{1} << bits)));
  return symbols;
}

SplitRows<CopySequence> draw_copies(const SyntheticCopiesOptions& options) {
  check(options);
  const Random random = Random(uint64_t(options.seed)).split("copies");
  const auto draw = [&](const char* split, int64_t rows) {
    std::vector<CopySequence> sequences;
    for (int64_t row = 0; row < rows; ++row) {
      const Random own = random.split(split).split(uint64_t(row));
      const auto spread = uint64_t(options.longest - options.shortest + 1);
      const auto length = options.shortest + int64_t(own.split("length").below(0, spread));
      sequences.push_back(draw_sequence(length, options.bits, own));
    }
    return sequences;
  };
  SplitRows<CopySequence> drawn;
  drawn.train = draw("train", options.rows);
  drawn.validation = draw("validation", options.validation_rows);
  for (const int64_t length : options.test_lengths)
    for (int64_t row = 0; row < options.test_rows; ++row)
      drawn.test.push_back(draw_sequence(
          length, options.bits, random.split("test").split(uint64_t(length)).split(uint64_t(row))));
  drawn.hash = hash_of_built_in("copy", options_json(options));
  drawn.notes.push_back(concat(format_count(options.rows), " sequences of ", options.shortest,
                               " to ", options.longest, " symbols of ", options.bits,
                               " bits an epoch"));
  return drawn;
}

}  // namespace fovea
