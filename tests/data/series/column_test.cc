#include "fovea/data/series/column.h"

#include <cmath>

#include "tests/data/testing.h"

namespace fovea::series::column_test {
namespace {

TEST(SeriesColumn, NumbersGapsAndText) {
  const TemporaryFolder folder;
  const CsvTable table = read_csv(folder.write("t.csv", "a,b\n1,2\n NA ,x\n-3e1,\n,y\n"));
  const SeriesColumn a = read_series_column(table, 0), b = read_series_column(table, 1);
  EXPECT_EQ(a.numbers, 2);
  EXPECT_EQ(a.texts, 0);
  EXPECT_EQ(a.values[2], -30);
  EXPECT_TRUE(std::isnan(a.values[1]) && std::isnan(a.values[3]));
  EXPECT_EQ(b.numbers, 1);
  EXPECT_EQ(b.texts, 2);
  EXPECT_EQ(b.first_text, 1);
  EXPECT_EQ(read_series(table, "a").size(), 4u);
  expect_error(ErrorKind::BadData, {"t.csv:3", "column 'b' is 'x'", "number"},
               [&] { read_series(table, "b"); });
  expect_error(ErrorKind::NotFound, {"'c'"}, [&] { read_series(table, "c"); });
}

TEST(SeriesColumn, OnlyShortGapsBetweenKnownValuesAreFilled) {
  std::vector<double> values{NAN, 1, NAN, NAN, 7, NAN, NAN, NAN, 2, NAN};
  EXPECT_EQ(fill_gaps(values, 2), 2);
  EXPECT_DOUBLE_EQ(values[2], 3);
  EXPECT_DOUBLE_EQ(values[3], 5);
  for (const size_t step : {0, 5, 6, 7, 9}) EXPECT_TRUE(std::isnan(values[step])) << step;
  EXPECT_EQ(fill_gaps(values, 0), 0);
  EXPECT_EQ(fill_gaps(values, 3), 3);
  EXPECT_DOUBLE_EQ(values[6], 4.5);
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[9]));
  std::vector<double> unknown{NAN, NAN};
  EXPECT_EQ(fill_gaps(unknown, 5), 0);
}

TEST(SeriesColumn, TimesMustAscendWhereTheyCanBeCompared) {
  const TemporaryFolder folder;
  const auto times = [&](const std::string& cells) {
    return read_times(read_csv(folder.write("t.csv", "time,a\n" + cells)), "time");
  };
  EXPECT_EQ(times("9,1\n10,2\n").labels, (std::vector<std::string>{"9", "10"}));
  EXPECT_TRUE(times("2024-01-31,1\n2024-02-01,2\n").comparable);
  EXPECT_FALSE(times("31.01.2024,1\n01.02.2024,2\n").comparable);
  EXPECT_FALSE(times("2024-01-31 9:00,1\n2024-01-31 10:00,2\n").comparable);
  expect_error(ErrorKind::BadData, {"t.csv:3", "'9'", "after '10'", "data.time=none"},
               [&] { times("10,1\n9,2\n"); });
  expect_error(ErrorKind::BadData, {"t.csv:4", "one row a step"},
               [&] { times("2024-01-01,1\n2024-01-02,1\n2024-01-02,1\n"); });
  expect_error(ErrorKind::BadData, {"t.csv:3", "'time' is missing"}, [&] { times("1,1\n,2\n"); });
  const CsvTable table = read_csv(folder.write("t.csv", "a\n1\n"));
  EXPECT_TRUE(read_times(table, "time").labels.empty());
  EXPECT_TRUE(read_times(table, "").labels.empty());
}

}  // namespace
}  // namespace fovea::series::column_test
