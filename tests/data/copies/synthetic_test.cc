#include "fovea/data/copies/synthetic.h"

#include <set>

#include "tests/data/testing.h"

namespace fovea::copies::synthetic_test {
namespace {

SyntheticCopiesOptions small(const std::string& kind = "copy") {
  SyntheticCopiesOptions options;
  options.kind = kind;
  options.rows = 200;
  options.validation_rows = 20;
  options.test_rows = 3;
  options.test_lengths = {4, 9};
  options.bits = kind == "ngrams" ? 1 : 3;
  options.shortest = 2;
  options.longest = 5;
  return options;
}

TEST(SyntheticCopies, LengthsAndSymbolsAreThoseAskedFor) {
  const SplitRows<CopyRow> draw = draw_copies(small());
  ASSERT_EQ(draw.train.size(), 200);
  ASSERT_EQ(draw.validation.size(), 20);
  std::set<size_t> lengths;
  std::set<int64_t> symbols;
  for (const CopyRow& row : draw.train) {
    lengths.insert(row.symbols.size());
    symbols.insert(row.symbols.begin(), row.symbols.end());
  }
  EXPECT_EQ(lengths, (std::set<size_t>{2, 3, 4, 5})) << "all of them";
  EXPECT_EQ(symbols.size(), 8u);
  EXPECT_EQ(*symbols.rbegin(), 7);
  ASSERT_EQ(draw.test.size(), 6);
  EXPECT_EQ(draw.test[0].symbols.size(), 4u);
  EXPECT_EQ(draw.test[5].symbols.size(), 9u);
}

TEST(SyntheticCopies, TheSeedAloneDecides) {
  for (const std::string& kind : copy_kinds()) {
    SyntheticCopiesOptions options = small(kind);
    const SplitRows<CopyRow> one = draw_copies(options);
    options.rows = 10;
    EXPECT_EQ(draw_copies(options).train[3], one.train[3]) << kind << ", however many";
    EXPECT_EQ(draw_copies(options).test.kept(), one.test.kept()) << kind;
    options.seed = 2;
    EXPECT_NE(draw_copies(options).test.kept(), one.test.kept()) << kind;
  }
}

TEST(SyntheticCopies, ZerosStandForThePaper) {
  const auto sizes = [](const std::string& kind) {
    SyntheticCopiesOptions options;
    options.kind = kind;
    options = options.resolved();
    return std::vector<int64_t>{options.bits, options.shortest, options.longest,
                                options.test_lengths.back()};
  };
  EXPECT_EQ(sizes("copy"), (std::vector<int64_t>{8, 1, 20, 120}));
  EXPECT_EQ(sizes("repeat-copy"), (std::vector<int64_t>{8, 1, 10, 20}));
  EXPECT_EQ(sizes("associative-recall"), (std::vector<int64_t>{6, 2, 6, 20}));
  EXPECT_EQ(sizes("ngrams"), (std::vector<int64_t>{1, 200, 200, 200}));
  EXPECT_EQ(sizes("priority-sort"), (std::vector<int64_t>{8, 20, 20, 20}));
  SyntheticCopiesOptions shorter;
  shorter.kind = "priority-sort";
  shorter.longest = 5;
  EXPECT_EQ(shorter.resolved().shortest, 5) << "not above the longest";
}

TEST(SyntheticCopies, OptionsOfOtherKindsDoNotChangeTheData) {
  SyntheticCopiesOptions options = small();
  const Json before = options.json();
  EXPECT_FALSE(before.contains("kind")) << "runs from before there were kinds keep their hash";
  EXPECT_EQ(before["bits"], 3);
  options.order = 4;
  options.most_repeats = 3;
  EXPECT_EQ(options.json(), before);
  options.kind = "repeat-copy";
  EXPECT_EQ(options.json()["most_repeats"], 3);
  EXPECT_FALSE(options.json().contains("order"));
  EXPECT_EQ(options.json()["kind"], "repeat-copy");
}

TEST(SyntheticCopies, RepeatsAreDrawnAndTestedWithEveryLength) {
  SyntheticCopiesOptions options = small("repeat-copy");
  options.fewest_repeats = 2;
  options.most_repeats = 4;
  options.test_repeats = {1, 6};
  const SplitRows<CopyRow> draw = draw_copies(options);
  std::set<int64_t> repeats;
  for (const CopyRow& row : draw.train) repeats.insert(row.repeats);
  EXPECT_EQ(repeats, (std::set<int64_t>{2, 3, 4}));
  std::vector<CopySize> sizes;
  for (size_t row = 0; row < 12; row += 3)
    sizes.push_back({int64_t(draw.test[row].symbols.size()), draw.test[row].repeats});
  EXPECT_EQ(sizes, (std::vector<CopySize>{{4, 1}, {4, 6}, {9, 1}, {9, 6}}));
}

TEST(SyntheticCopies, ItemsDifferAndAllButTheLastAreAskedFor) {
  SyntheticCopiesOptions options = small("associative-recall");
  options.item_length = 2;
  std::set<int64_t> from_the_end;
  for (const CopyRow& row : draw_copies(options).train) {
    ASSERT_EQ(row.symbols.size(), size_t(2 * row.items));
    std::set<std::pair<int64_t, int64_t>> items;
    for (size_t i = 0; i < row.symbols.size(); i += 2)
      items.insert({row.symbols[i], row.symbols[i + 1]});
    EXPECT_EQ(int64_t(items.size()), row.items);
    from_the_end.insert(row.items - row.query);
  }
  EXPECT_EQ(from_the_end, (std::set<int64_t>{2, 3, 4, 5}));
}

TEST(SyntheticCopies, BitsFollowTheirContext) {
  SyntheticCopiesOptions options = small("ngrams");
  options.order = 3;
  options.shortest = options.longest = 4000;
  options.rows = 60;
  double extreme = 0, contexts = 0, first = 0;
  for (const CopyRow& row : draw_copies(options).train) {
    std::array<std::array<double, 2>, 4> counts{};
    first += double(row.symbols[0]);
    for (size_t i = 2; i < row.symbols.size(); ++i)
      ++counts[size_t(2 * row.symbols[i - 2] + row.symbols[i - 1])][size_t(row.symbols[i])];
    for (const auto& [zeros, ones] : counts) {
      if (zeros + ones < 50) continue;
      const double p = ones / (zeros + ones);
      extreme += p < 0.146 || p > 0.854;
      ++contexts;
    }
  }
  // Beta(1/2, 1/2): half of it lies outside of sin²(π/8) … cos²(π/8).
  EXPECT_NEAR(extreme / contexts, 0.5, 0.12);
  EXPECT_NEAR(first / 60, 0.5, 0.2);
}

TEST(SyntheticCopies, PrioritiesSpreadFromMinusOneToOne) {
  double sum = 0, least = 1, most = -1, count = 0;
  for (const CopyRow& row : draw_copies(small("priority-sort")).train) {
    ASSERT_EQ(row.priorities.size(), row.symbols.size());
    for (const float priority : row.priorities) {
      sum += priority, ++count;
      least = std::min(least, double(priority)), most = std::max(most, double(priority));
    }
  }
  EXPECT_NEAR(sum / count, 0, 0.1);
  EXPECT_TRUE(least >= -1 && least < -0.9 && most <= 1 && most > 0.9) << least << " " << most;
}

TEST(SyntheticCopies, RefusesWhatCannotBeDrawn) {
  const auto refused = [](const char* kind, const char* word, const auto& change) {
    SyntheticCopiesOptions options = small(kind);
    change(options);
    expect_error(ErrorKind::InvalidArgument, word, [&] { draw_copies(options); });
  };
  using Options = SyntheticCopiesOptions;
  refused("copy", "at most data.longest", [](Options& options) { options.shortest = 6; });
  refused("copy", "40 bits", [](Options& options) { options.bits = 40; });
  refused("copy", "data.test_lengths: 0", [](Options& options) { options.test_lengths = {0}; });
  refused("copy", "symbols", [](Options& options) { options.rows = int64_t{1} << 40; });
  refused("repeat-copy", "cannot be repeated 5 to 2 times", [](Options& options) {
    options.fewest_repeats = 5;
    options.most_repeats = 2;
  });
  refused("repeat-copy", "data.test_repeats: 0",
          [](Options& options) { options.test_repeats = {0}; });
  refused("repeat-copy", "together at most 100,000",
          [](Options& options) { options.test_repeats = {20'000}; });
  refused("associative-recall", "needs 2 items", [](Options& options) { options.shortest = 1; });
  refused("associative-recall", "9 items cannot differ when they have 3 bits",
          [](Options& options) { options.item_length = 1; });
  refused("ngrams", "found data.bits=3", [](Options& options) { options.bits = 3; });
  refused("ngrams", "data.order=40", [](Options& options) { options.order = 40; });
  refused("priority-sort", "data.highest=0", [](Options& options) { options.highest = 0; });
  refused("sort", "data.kind=sort is not known", [](Options&) {});
}

}  // namespace
}  // namespace fovea::copies::synthetic_test
