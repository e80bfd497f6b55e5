#include "fovea/data/series/steps.h"

#include "tests/data/testing.h"

namespace fovea::steps_test {
namespace {

using Names = std::vector<std::string>;

class Steps : public ::testing::Test {
 protected:
  SeriesSteps lay_out(const std::string& text, const std::string& series = "") {
    table_ = read_csv(folder_.write("t.csv", text));
    return lay_out_steps(table_, "date", series);
  }
  TemporaryFolder folder_;
  CsvTable table_;
};

TEST_F(Steps, MissingTimesBecomeSteps) {
  const SeriesSteps steps =
      lay_out("date,a\n2024-01-01,1\n2024-01-02,2\n2024-01-04,4\n2024-01-05,5\n2024-01-06,6\n");
  EXPECT_EQ(steps.rows, (std::vector<int64_t>{0, 1, -1, 2, 3, 4}));
  EXPECT_EQ(steps.labels[2], "2024-01-03");
  EXPECT_EQ(steps.inserted, 1);
  EXPECT_TRUE(steps.even);
  EXPECT_TRUE(has_note(steps.notes, "1 of 6 times are missing, 1 day apart"));
}

TEST_F(Steps, ManyMissingTimesAreLeftAlone) {
  std::string weekdays = "date,a\n";
  for (const int day : {1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19, 22, 23, 24, 25, 26})
    weekdays += concat("2024-01-", day < 10 ? "0" : "", day, ",1\n");
  const SeriesSteps steps = lay_out(weekdays);
  EXPECT_EQ(steps.size(), 20);
  EXPECT_FALSE(steps.even);
  EXPECT_EQ(steps.interval.text(), "1 day");
  EXPECT_TRUE(has_note(steps.notes, "each row is taken as one step"));
  const SeriesSteps uneven = lay_out("date,a\n2024-01-01,1\n2024-01-02,2\n2024-01-03 07:00,3\n");
  EXPECT_FALSE(uneven.interval.known());
  EXPECT_TRUE(has_note(uneven.notes, "not equally far apart"));
}

TEST_F(Steps, NewestFirstIsTurnedAround) {
  const SeriesSteps steps = lay_out("date,a\n2024-01-03,3\n2024-01-02,2\n2024-01-01,1\n");
  EXPECT_EQ(steps.rows, (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(steps.labels[0], "2024-01-01");
  EXPECT_TRUE(has_note(steps.notes, "descend"));
  expect_error(ErrorKind::BadData, {"t.csv:4", "does not come after"}, [&] {
    lay_out("date,a\n2024-01-01,3\n2024-01-03,2\n2024-01-02,1\n2024-01-04,1\n");
  });
}

TEST_F(Steps, RowsOfSeveralSeries) {
  const SeriesSteps steps = lay_out(
      "date,shop,a\n2024-01-01,x,1\n2024-01-01,y,2\n2024-01-02,x,3\n2024-01-02,y,4\n", "shop");
  ASSERT_EQ(steps.blocks.size(), 2u);
  EXPECT_EQ(steps.blocks[1].name, "y");
  EXPECT_EQ(steps.blocks[1].begin, 2);
  EXPECT_EQ(steps.rows, (std::vector<int64_t>{0, 2, 1, 3}));
  expect_error(ErrorKind::BadData, {"t.csv:3", "'shop' is empty"},
               [&] { lay_out("date,shop,a\n2024-01-01,x,1\n2024-01-01,,2\n", "shop"); });
}

}  // namespace
}  // namespace fovea::steps_test
