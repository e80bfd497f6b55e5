#include "fovea/data/copies/synthetic.h"

#include <set>

#include "tests/data/testing.h"

namespace fovea {
namespace {

SyntheticCopiesOptions small() {
  SyntheticCopiesOptions options;
  options.rows = 200;
  options.validation_rows = 20;
  options.test_rows = 3;
  options.test_lengths = {4, 9};
  options.bits = 3;
  options.shortest = 2;
  options.longest = 5;
  return options;
}

TEST(SyntheticCopies, LengthsAndSymbolsAreThoseAskedFor) {
  const SplitRows<CopySequence> draw = draw_copies(small());
  ASSERT_EQ(draw.train.size(), 200);
  ASSERT_EQ(draw.validation.size(), 20);
  std::set<size_t> lengths;
  std::set<int64_t> symbols;
  for (const CopySequence& sequence : draw.train) {
    lengths.insert(sequence.size());
    symbols.insert(sequence.begin(), sequence.end());
  }
  EXPECT_EQ(lengths, (std::set<size_t>{2, 3, 4, 5})) << "all of them";
  EXPECT_EQ(symbols.size(), 8u);
  EXPECT_EQ(*symbols.rbegin(), 7);
  ASSERT_EQ(draw.test.size(), 6);
  EXPECT_EQ(draw.test[0].size(), 4u);
  EXPECT_EQ(draw.test[5].size(), 9u);
}

TEST(SyntheticCopies, TheSeedAloneDecides) {
  SyntheticCopiesOptions options = small();
  const SplitRows<CopySequence> one = draw_copies(options);
  options.rows = 10;
  EXPECT_EQ(draw_copies(options).train[3], one.train[3]) << "however many";
  EXPECT_EQ(draw_copies(options).test.kept(), one.test.kept());
  options.seed = 2;
  EXPECT_NE(draw_copies(options).test.kept(), one.test.kept());
}

TEST(SyntheticCopies, RefusesWhatCannotBeDrawn) {
  const auto refused = [](const char* word, const auto& change) {
    SyntheticCopiesOptions options = small();
    change(options);
    expect_error(ErrorKind::InvalidArgument, word, [&] { draw_copies(options); });
  };
  refused("at most data.longest", [](SyntheticCopiesOptions& options) { options.shortest = 6; });
  refused("40 bits", [](SyntheticCopiesOptions& options) { options.bits = 40; });
  refused("data.test_lengths: 0",
          [](SyntheticCopiesOptions& options) { options.test_lengths = {0}; });
  refused("symbols", [](SyntheticCopiesOptions& options) { options.rows = int64_t{1} << 40; });
}

}  // namespace
}  // namespace fovea
