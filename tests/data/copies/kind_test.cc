// What each kind of the copy task hears, what is due, and where it was heard.
#include "fovea/data/copies/kind.h"

#include <ATen/ATen.h>

#include "fovea/data/copies/dataset.h"
#include "tests/data/testing.h"

namespace fovea::kind_test {
namespace {

constexpr int64_t kNone = CopyStep::kNone;

CopyLayout layout_of(const char* kind, int64_t bits) {
  return {.kind = &copy_kind(kind), .bits = bits};
}

CopyRow parsed(const char* kind, const std::string& text) {
  int64_t bits = 0;
  return copy_kind(kind).parse(text, bits, "input");
}

std::vector<int64_t> shown(const std::vector<CopyStep>& steps) {
  std::vector<int64_t> symbols;
  for (const CopyStep& step : steps) symbols.push_back(step.shown);
  return symbols;
}

std::vector<int64_t> due(const std::vector<CopyStep>& steps) {
  std::vector<int64_t> symbols;
  for (const CopyStep& step : steps) symbols.push_back(step.due);
  return symbols;
}

void expect_refused(const char* kind, const std::string& text, const std::string& words) {
  SCOPED_TRACE(text);
  expect_error(ErrorKind::BadData, {"a.txt:3", words}, [&] {
    int64_t bits = 0;
    copy_kind(kind).parse(text, bits, "a.txt:3");
  });
}

TEST(CopyKinds, TextReadsBack) {
  for (const std::string& kind : copy_kinds()) {
    const CopyKind& own = copy_kind(kind);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const CopyRow row = own.draw({4, own.repeats ? 3 : 1},
                                   {.bits = own.bits, .item_length = 3, .order = 3}, Random(seed));
      int64_t bits = 0;
      EXPECT_EQ(own.parse(own.format(row, own.bits), bits, "input"), row) << kind;
      EXPECT_EQ(bits, own.bits);
      EXPECT_EQ(own.size_of(row), (CopySize{4, own.repeats ? 3 : 1})) << kind;
    }
  }
}

TEST(CopyKinds, WhatIsDueFollowsEachOther) {
  for (const std::string& kind : copy_kinds()) {
    const CopyKind& own = copy_kind(kind);
    const CopyRow row = own.draw({5, own.repeats ? 2 : 1},
                                 {.bits = own.bits, .item_length = 2, .order = 3}, Random(1));
    const std::vector<CopyStep> steps = own.steps(row, layout_of(kind.c_str(), own.bits));
    int changes = 0;
    for (size_t i = 1; i < steps.size(); ++i)
      changes += (steps[i].due == kNone) != (steps[i - 1].due == kNone);
    EXPECT_LE(changes, 1) << kind << ": models count on it";
    EXPECT_NE(steps.back().due, kNone);
  }
}

TEST(RepeatCopy, SymbolsComeAsOftenAsAskedForThenTheEnd) {
  CopyLayout layout = layout_of("repeat-copy", 3);
  layout.repeats_mean = 5.5;
  layout.repeats_deviation = 2;
  const CopyRow row = parsed("repeat-copy", "011 100 x3");
  const auto steps = layout.kind->steps(row, layout);
  EXPECT_EQ(shown(steps),
            (std::vector<int64_t>{6, 1, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}));
  EXPECT_EQ(due(steps), (std::vector<int64_t>{kNone, kNone, kNone, 6, 1, 6, 1, 6, 1, 8}));
  EXPECT_EQ(steps[2].marks[0], 1);
  EXPECT_EQ(steps[2].marks[1], -1.25f);
  EXPECT_EQ(layout.inputs(), 5);
  EXPECT_EQ(layout.outputs(), 4);
  const Example example = copy_example(row, layout);
  const at::Tensor truth = example.truth.at(kCopySources);  // [10, 10]
  EXPECT_EQ(truth.sum().item<int64_t>(), 6) << "not the end";
  for (int64_t step = 3; step < 9; ++step)
    EXPECT_TRUE(truth[step][(step - 3) % 2].item<bool>()) << step;
  EXPECT_EQ(example.axis("steps").labels[2], "x3");
  EXPECT_EQ(example.tensors.at("size").sum().item<int64_t>(), 5);
  EXPECT_EQ(format_output({6, 1, 8, 9}, layout), "011 100 end end");
}

TEST(RepeatCopy, TheNumberHasMeanZeroAndVarianceOne) {
  CopyDataOptions options;
  options.generator.kind = "repeat-copy";
  options.generator.rows = 300;
  CopyLayout layout;
  const Splits splits = load_copies({}, options, layout, 1);
  double sum = 0, squares = 0;
  for (int64_t row = 0; row < 300; ++row) {
    const at::Tensor inputs = splits.train->batch(std::span(&row, 1)).at("inputs")[0];
    const double number = inputs.select(-1, 9).sum().item<double>();
    sum += number, squares += number * number;
  }
  EXPECT_NEAR(sum / 300, 0, 1e-4);
  EXPECT_NEAR(squares / 300, 1, 1e-4);
}

TEST(AssociativeRecall, TheItemBehindTheQueryIsDue) {
  const CopyLayout layout = layout_of("associative-recall", 3);
  const CopyRow row = parsed("associative-recall", "011 100 | 111 010 | 001 101 ? 111 010");
  EXPECT_EQ(row.items, 3);
  EXPECT_EQ(row.query, 1);
  const auto steps = layout.kind->steps(row, layout);
  EXPECT_EQ(shown(steps), (std::vector<int64_t>{kNone, 6, 1, kNone, 7, 2, kNone, 4, 5, kNone, 7, 2,
                                                kNone, kNone, kNone}));
  EXPECT_EQ(steps[13].due, 4);
  EXPECT_EQ(steps[14].due, 5);
  for (const size_t item : {0, 3, 6}) EXPECT_EQ(steps[item].marks[0], 1);
  for (const size_t query : {9, 12}) EXPECT_EQ(steps[query].marks[1], 1);
  const at::Tensor truth = copy_example(row, layout).truth.at(kCopySources);
  for (const int64_t output : {13, 14})
    EXPECT_TRUE(truth[output].nonzero().flatten().equal(at::tensor({7, 8, 9}, at::kLong)))
        << "its symbols, and the delimiter behind them";
  EXPECT_EQ(truth.sum().item<int64_t>(), 6);
}

TEST(Ngrams, EachBitIsDueBeforeItComes) {
  const CopyLayout layout = layout_of("ngrams", 1);
  const auto steps = layout.kind->steps(parsed("ngrams", "0110"), layout);
  EXPECT_EQ(shown(steps), (std::vector<int64_t>{kNone, 0, 1, 1}));
  EXPECT_EQ(due(steps), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(steps[0].marks[0], 1) << "so that no bit and a 0 differ";
  EXPECT_EQ(steps[1].marks[0], 0);
  EXPECT_EQ(format_output({0, 1, 1}, layout), "011");
}

TEST(PrioritySort, TheHighestAreDueInOrder) {
  CopyLayout layout = layout_of("priority-sort", 2);
  layout.highest = 3;
  const CopyRow row = parsed("priority-sort", "10@-0.5 01@0.25 11@1 00@0.25");
  const auto steps = layout.kind->steps(row, layout);
  EXPECT_EQ(due(steps), (std::vector<int64_t>{kNone, kNone, kNone, kNone, kNone, 3, 2, 0}));
  EXPECT_EQ(steps[0].marks[1], -0.5f);
  EXPECT_EQ(steps[4].marks[0], 1);
  const Example example = copy_example(row, layout);
  const at::Tensor truth = example.truth.at(kCopySources);
  EXPECT_TRUE(truth[5][2].item<bool>() && truth[6][1].item<bool>() && truth[7][3].item<bool>());
  EXPECT_EQ(truth.sum().item<int64_t>(), 3);
  EXPECT_EQ(example.axis("steps").labels[0], "10 @ -0.5");
  layout.highest = 16;
  EXPECT_EQ(layout.kind->steps(row, layout).size(), 9u) << "as many as there are";
}

TEST(CopyKinds, RefuseWhatTheyDoNotRead) {
  expect_refused("repeat-copy", "011 100", "does not say how often");
  expect_refused("repeat-copy", "011 100 x0", "does not say how often");
  expect_refused("repeat-copy", "011 100 x99999999999999999999", "does not say how often");
  expect_refused("repeat-copy", "011 100 x60000", "more than 100,000");
  expect_refused("repeat-copy", "x3", "holds no symbol");
  expect_refused("associative-recall", "011 | 100", "asks for nothing");
  expect_refused("associative-recall", "011 ? 011", "has one item");
  expect_refused("associative-recall", "011 | 100 101 ? 011", "item 2 has 2 symbols");
  expect_refused("associative-recall", "011 | ? 011", "item 2: holds no symbol");
  expect_refused("associative-recall", "011 | 100 ? 111", "none of the 2 items");
  expect_refused("associative-recall", "011 | 100 ? 100", "the last item");
  expect_refused("ngrams", "0120", "'2' is no bit");
  expect_refused("ngrams", "  ", "holds no bit");
  expect_refused("priority-sort", "01 10@1", "'01' has no priority");
  expect_refused("priority-sort", "01@2", "no priority from -1 to 1");
  expect_refused("priority-sort", "01@nan", "no priority from -1 to 1");
  expect_refused("priority-sort", "@1", "holds no symbol");
  expect_refused("priority-sort", "01@1 @1", "2 priorities for 1 symbols");
}

}  // namespace
}  // namespace fovea::kind_test
