#include "fovea/data/draw.h"

#include <set>

#include "tests/data/testing.h"

namespace fovea::draw_test {
namespace {

/// Numbers below `bound` as texts; odd ones are of no use.
SplitRows<std::string> draw_even(const DrawOptions& options, uint64_t bound) {
  return draw_different(
      options, "even", "numbers; raise the bound",
      [&](const Random& random) { return std::to_string(random.below(0, bound)); },
      [](const std::string& row) {
        return std::stoi(row) % 2 == 0 ? std::vector{row} : std::vector<std::string>{};
      });
}

TEST(Draw, RowsAreDifferentAndUseful) {
  const SplitRows<std::string> draw = draw_even({20, 10, 5}, 100);
  std::set<std::string> all;
  for (const auto* part : {&draw.train, &draw.validation, &draw.test})
    for (const std::string& row : *part) {
      EXPECT_TRUE(all.insert(row).second) << row;
      EXPECT_EQ(std::stoi(row) % 2, 0);
    }
  EXPECT_EQ(draw.train.size(), 20);
  EXPECT_EQ(draw.validation.size(), 10);
  EXPECT_EQ(draw.test.size(), 5);
}

TEST(Draw, TheSmallPartsDoNotDependOnTheTrainingRows) {
  const SplitRows<std::string> few = draw_even({2, 10, 5}, 1000),
                               many = draw_even({200, 10, 5}, 1000);
  EXPECT_EQ(few.validation.kept(), many.validation.kept());
  EXPECT_EQ(few.test.kept(), many.test.kept());
  EXPECT_EQ(few.train[1], many.train[1]);
  EXPECT_NE(draw_even({2, 10, 5, 7}, 1000).test.kept(), few.test.kept()) << "another seed";
}

TEST(Draw, EndsWhereNothingNewIsLeft) {
  EXPECT_EQ(draw_even({3, 1, 1}, 10).train.size(), 3);
  expect_error(ErrorKind::InvalidArgument, {"after 5 there are no more different numbers", "bound"},
               [] {
                 draw_even({4, 1, 1}, 10);
               });
}

TEST(Draw, OptionsAreDescribedCheckedAndCounted) {
  DrawOptions options{2000, 10, 5};
  OptionList list;
  options.describe_rows(list, "reviews");
  options.describe_seed(list, "reviews");
  EXPECT_EQ(list.options().size(), 4u);
  EXPECT_EQ(options.counted("reviews"), "2,000 training, 10 validation and 5 test reviews");
  options.check_rows("reviews");
  options.test_rows = -1;
  expect_error(ErrorKind::InvalidArgument, {"-1 reviews", "10,000,000"},
               [&] { options.check_rows("reviews"); });
}

}  // namespace
}  // namespace fovea::draw_test
