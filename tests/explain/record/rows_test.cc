#include "fovea/explain/record/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/explain/draw/report.h"
#include "tests/support/expect_error.h"

namespace fovea::rows_test {
namespace {

RowsRecord two_rows() {
  RowsRecord record;
  record.task = "documents";
  record.kind = "class";
  record.run = "<b>run</b>";
  record.rows = 2;
  RowColumn answer{"answer", "answer"};
  answer.places = {1, -1};
  answer.names = {"bad", "good"};
  RowColumn probability{"probability", "probability"};
  probability.numbers = {0.5, std::numeric_limits<double>::quiet_NaN()};
  record.columns = {{"input", "input", "", {"one </script> two", "\xff"}}, answer, probability};
  return record;
}

TEST(Rows, CellsBecomeNumbersNamesOrTexts) {
  const RowColumn numbers = column_of_cells("age", {"1", "", "-2.5"});
  ASSERT_EQ(numbers.numbers.size(), 3u);
  EXPECT_EQ(numbers.numbers[0], 1);
  EXPECT_TRUE(std::isnan(numbers.numbers[1]));
  EXPECT_TRUE(numbers.exact);
  const RowColumn names = column_of_cells("plan", {"Pro", "Basic", "Pro", "1"});
  EXPECT_EQ(names.names, (std::vector<std::string>{"Pro", "Basic", "1"}));
  EXPECT_EQ(names.places, (std::vector<int64_t>{0, 1, 0, 2}));
  // A number that would not come out as it went in is none.
  EXPECT_EQ(column_of_cells("code", {"007", "1"}).names, (std::vector<std::string>{"007", "1"}));
  EXPECT_EQ(column_of_cells("share", {"0", "0.5"}).numbers, (std::vector<double>{0, 0.5}));
  std::vector<std::string> many;
  for (int i = 0; i < 60; ++i) many.push_back("word " + std::to_string(i));
  EXPECT_EQ(column_of_cells("words", many).texts, many);
}

TEST(Rows, ColumnsArePackedByTheirKind) {
  const Json json = rows_to_json(two_rows());
  EXPECT_EQ(json["format"], "fovea-rows");
  ASSERT_EQ(json["columns"].size(), 3u);
  EXPECT_EQ(json["columns"][0]["encoding"], "texts");
  EXPECT_EQ(json["columns"][1]["encoding"], "u8");
  EXPECT_EQ(json["columns"][1]["bytes"], 2);
  EXPECT_EQ(json["columns"][1]["names"], (Json{"bad", "good"}));
  EXPECT_EQ(json["columns"][2]["encoding"], "f32");
  EXPECT_EQ(json["columns"][2]["bytes"], 8);
  EXPECT_EQ(json["chunks"].size(), 3u);
  EXPECT_FALSE(json.contains("target"));
  RowsRecord record = two_rows();
  record.columns[1].names.resize(300, "class");
  record.columns[2].exact = true;
  const Json wider = rows_to_json(record);
  EXPECT_EQ(wider["columns"][1]["encoding"], "u32");
  EXPECT_EQ(wider["columns"][2]["encoding"], "f64");
}

TEST(Rows, AColumnWithAnotherNumberOfEntriesIsRefused) {
  RowsRecord record = two_rows();
  record.columns[1].places.push_back(0);
  testing::expect_error(ErrorKind::Internal, "the column answer has 3 entries of 2 rows",
                        [&] { rows_to_json(record); });
}

TEST(Rows, ThePageHoldsNothingThatEndsItsScripts) {
  const std::string html = rows_html(two_rows(), {});
  EXPECT_NE(html.find("id=\"rows\""), std::string::npos);
  EXPECT_NE(html.find("fovea/rows/report.js"), std::string::npos);
  EXPECT_EQ(html.find("<b>run</b>"), std::string::npos);
  EXPECT_EQ(html.find("http://"), std::string::npos);
}

TEST(Rows, ReportsOfOneInputDoWithoutTheTable) {
  Explanation explanation;
  explanation.title = "one";
  EXPECT_EQ(report_html({&explanation, 1}).find("fovea/rows/"), std::string::npos);
}

}  // namespace
}  // namespace fovea::rows_test
