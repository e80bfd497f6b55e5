#include "fovea/data/tables/column.h"

#include <cmath>

#include "tests/data/testing.h"

namespace fovea {
namespace {

using Names = std::vector<std::string>;

std::vector<float> encoded(const TableColumn& column, std::string_view cell) {
  std::vector<float> inputs(size_t(column.inputs()), 0.f);
  EXPECT_TRUE(column.encode(cell, inputs.data())) << cell;
  return inputs;
}

TableColumn categories(const std::vector<std::string_view>& cells, int64_t most = 100) {
  return TableColumn::of_texts("c", cells, most);
}

TEST(TableColumn, NumbersAreStandardised) {
  const TableColumn column = TableColumn::of_numbers("x", std::vector<double>{1, 3, 5, 7}, true);
  EXPECT_EQ(column.mean(), 4);
  EXPECT_DOUBLE_EQ(column.deviation(), std::sqrt(5.0));
  EXPECT_EQ(column.input_names(), Names{"x"});
  EXPECT_EQ(encoded(column, " 5 "), std::vector<float>{float(1 / std::sqrt(5.0))});
  EXPECT_EQ(encoded(column, "NA"),
            std::vector<float>{0});  // never missing in training: the mean, and no indicator
  float input = 0;
  EXPECT_FALSE(column.encode("five", &input));
  EXPECT_FALSE(column.encode("inf", &input));
}

TEST(TableColumn, MissingNumbersAreTheMeanAndAnIndicator) {
  const TableColumn column =
      TableColumn::of_numbers("x", std::vector<double>{1, NAN, 3, NAN}, true);
  EXPECT_EQ(column.mean(), 2);
  EXPECT_EQ(column.input_names(), (Names{"x", "x=(missing)"}));
  EXPECT_EQ(column.input_means(), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(encoded(column, "3"), (std::vector<float>{1, 0}));
  EXPECT_EQ(encoded(column, "?"), (std::vector<float>{0, 1}));
}

TEST(TableColumn, NumbersStayAsDrawn) {
  const TableColumn column = TableColumn::of_numbers("x", std::vector<double>{0.1, 0.7}, false);
  EXPECT_EQ(encoded(column, "0.1"), std::vector<float>{0.1f});
  EXPECT_EQ(column.mean(), (double(0.1f) + double(0.7f)) / 2);
  EXPECT_EQ(column.input_means(), std::vector<double>{column.mean()});
}

TEST(TableColumn, ConstantColumnsAreZeros) {
  for (const bool standardise : {true, false}) {
    const TableColumn column =
        TableColumn::of_numbers("x", std::vector<double>{5, 5, 5}, standardise);
    EXPECT_TRUE(column.is_constant());
    EXPECT_EQ(encoded(column, "5"), std::vector<float>{0});
    EXPECT_EQ(encoded(column, "6"), std::vector<float>{0});
  }
  const TableColumn missing = TableColumn::of_numbers("x", std::vector<double>{5, NAN}, true);
  EXPECT_EQ(encoded(missing, "5"), (std::vector<float>{0, 0}));
  EXPECT_EQ(encoded(missing, ""), (std::vector<float>{0, 1}));
  const TableColumn tiny = TableColumn::of_numbers("x", std::vector<double>{1e-200, 2e-200}, true);
  EXPECT_TRUE(tiny.is_constant());  // its deviation is 0 in double precision
  EXPECT_TRUE(std::isfinite(encoded(tiny, "2e-200")[0]));
  const TableColumn text = categories({"a", "a"});
  EXPECT_TRUE(text.is_constant());
  EXPECT_EQ(encoded(text, "a"), std::vector<float>{0});
}

TEST(TableColumn, CategoriesByFrequencyThenName) {
  const TableColumn column = categories({"b", "c", "a", "c", "b", "d"});
  EXPECT_EQ(column.categories(), (Names{"b", "c", "a", "d"}));
  EXPECT_EQ(column.input_names(), (Names{"c=b", "c=c", "c=a", "c=d"}));
  EXPECT_EQ(encoded(column, " a "), (std::vector<float>{0, 0, 1, 0}));
  EXPECT_EQ(encoded(column, "unseen"), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(encoded(column, "NA"), (std::vector<float>{0, 0, 0, 0}));
}

TEST(TableColumn, RareCategoriesShareOneInputAndMissingIsOne) {
  const TableColumn column = categories({"b", "b", "a", "a", "c", "d", "?", ""}, 2);
  EXPECT_EQ(column.input_names(), (Names{"c=a", "c=b", "c=(other)", "c=(missing)"}));
  EXPECT_EQ(column.input_means(), (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(encoded(column, "d"), (std::vector<float>{0, 0, 1, 0}));
  EXPECT_EQ(encoded(column, "unseen"), (std::vector<float>{0, 0, 1, 0}));
  EXPECT_EQ(encoded(column, "null"), (std::vector<float>{0, 0, 0, 1}));
}

TEST(TableColumn, JsonKeepsEverything) {
  const std::vector<TableColumn> columns{
      TableColumn::of_numbers("x", std::vector<double>{1. / 3, NAN, 0.1}, true),
      TableColumn::of_numbers("k", std::vector<double>{2, 2}, false),
      categories({"é", "b", "b", "", "z"}, 2), categories({"a", "a"})};
  for (const TableColumn& column : columns) {
    const Json json = Json::parse(column.to_json().dump());
    const TableColumn again = TableColumn::from_json(Field::root(json, "column"));
    EXPECT_EQ(again.to_json(), column.to_json());
    EXPECT_EQ(again.input_names(), column.input_names());
    for (const char* cell : {"0.1", "", "7"}) {
      std::vector<float> left(size_t(column.inputs()), 0.f), right = left;
      EXPECT_EQ(column.encode(cell, left.data()), again.encode(cell, right.data()));
      EXPECT_EQ(left, right);
    }
  }
}

TEST(TableColumn, BadJson) {
  Json json = TableColumn::of_numbers("x", std::vector<double>{1, 2}, true).to_json();
  json["deviation"] = 0;
  expect_error(ErrorKind::BadData, {"column: deviation", "above 0"},
               [&] { TableColumn::from_json(Field::root(json, "column")); });
  json["type"] = "date";
  expect_error(ErrorKind::BadData, {"column: type", "\"date\"", "number or category"},
               [&] { TableColumn::from_json(Field::root(json, "column")); });
}

}  // namespace
}  // namespace fovea
