#include "fovea/data/tables/column.h"

#include <cmath>

#include "tests/data/testing.h"

namespace fovea::tables::column_test {
namespace {

using Names = std::vector<std::string>;

const NumberFit kStandard{true}, kAsDrawn{false};

std::vector<float> encoded(const TableColumn& column, std::string_view cell) {
  std::vector<float> inputs(size_t(column.inputs()), 0.f);
  EXPECT_TRUE(column.encode(cell, inputs.data())) << cell;
  return inputs;
}

TableColumn categories(const std::vector<std::string_view>& cells, int64_t most = 100) {
  return TableColumn::of_texts("c", cells, most);
}

/// 100 rows 0 … 99 with the target 1 from 50 on.
struct Step {
  std::vector<double> x, y;
  Step() {
    for (int i = 0; i < 100; ++i) x.push_back(i), y.push_back(i >= 50);
  }
  NumberFit fit(int64_t bins) const { return {true, true, bins, {y}}; }
};

TEST(TableColumn, NumbersAreStandardised) {
  const TableColumn column =
      TableColumn::of_numbers("x", std::vector<double>{1, 3, 5, 7}, kStandard);
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
      TableColumn::of_numbers("x", std::vector<double>{1, NAN, 3, NAN}, kStandard);
  EXPECT_EQ(column.mean(), 2);
  EXPECT_EQ(column.input_names(), (Names{"x", "x=(missing)"}));
  EXPECT_EQ(column.input_means(), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(encoded(column, "3"), (std::vector<float>{1, 0}));
  EXPECT_EQ(encoded(column, "?"), (std::vector<float>{0, 1}));
}

TEST(TableColumn, NumbersStayAsDrawn) {
  const TableColumn column = TableColumn::of_numbers("x", std::vector<double>{0.1, 0.7}, kAsDrawn);
  EXPECT_EQ(encoded(column, "0.1"), std::vector<float>{0.1f});
  EXPECT_EQ(column.mean(), (double(0.1f) + double(0.7f)) / 2);
  EXPECT_EQ(column.input_means(), std::vector<double>{column.mean()});
}

TEST(TableColumn, ConstantColumnsAreZeros) {
  for (const bool standardise : {true, false}) {
    const TableColumn column =
        TableColumn::of_numbers("x", std::vector<double>{5, 5, 5}, NumberFit{standardise});
    EXPECT_TRUE(column.is_constant());
    EXPECT_EQ(encoded(column, "5"), std::vector<float>{0});
    EXPECT_EQ(encoded(column, "6"), std::vector<float>{0});
  }
  const TableColumn missing = TableColumn::of_numbers("x", std::vector<double>{5, NAN}, kStandard);
  EXPECT_EQ(encoded(missing, "5"), (std::vector<float>{0, 0}));
  EXPECT_EQ(encoded(missing, ""), (std::vector<float>{0, 1}));
  const TableColumn tiny =
      TableColumn::of_numbers("x", std::vector<double>{1e-200, 2e-200}, kStandard);
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
      TableColumn::of_numbers("x", std::vector<double>{1. / 3, NAN, 0.1}, kStandard),
      TableColumn::of_numbers("p", Step().x, Step().fit(6)),
      TableColumn::of_numbers("k", std::vector<double>{2, 2}, kAsDrawn),
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

TEST(TableColumn, PiecesFollowTheValueAndMissingComesLast) {
  Step step;
  step.x[3] = step.x[70] = NAN;
  const TableColumn column = TableColumn::of_numbers("x", step.x, step.fit(4));
  const size_t inputs = size_t(column.inputs());
  ASSERT_GE(inputs, 5u);
  EXPECT_EQ(column.input_names().size(), inputs);
  EXPECT_EQ(column.input_means().size(), inputs);
  const std::vector<InputRole> roles = column.input_roles();
  ASSERT_EQ(roles.size(), inputs);
  EXPECT_EQ(roles.front(), InputRole::Value);
  for (size_t i = 1; i + 1 < inputs; ++i) EXPECT_EQ(roles[i], InputRole::Piece) << i;
  EXPECT_EQ(roles.back(), InputRole::Missing);
  std::vector<float> missing(inputs, 0.f);
  missing.back() = 1;
  EXPECT_EQ(encoded(column, "NA"), missing);
  EXPECT_EQ(column.decode(missing.data()), "");
  EXPECT_EQ(column.decode(encoded(column, "62").data()), "62");
}

TEST(TableColumn, ANumberThatIsFirstMissingAfterTrainingIsTheMean) {
  const TableColumn column = TableColumn::of_numbers("x", Step().x, Step().fit(4));
  const std::vector<float> inputs = encoded(column, "");
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(inputs[i], float(column.input_means()[i])) << i;
}

TEST(TableColumn, BadJson) {
  Json json = TableColumn::of_numbers("x", std::vector<double>{1, 2}, kStandard).to_json();
  json["deviation"] = 0;
  expect_error(ErrorKind::BadData, {"column: deviation", "above 0"},
               [&] { TableColumn::from_json(Field::root(json, "column")); });
  Json pieces = TableColumn::of_numbers("x", Step().x, Step().fit(6)).to_json();
  pieces["edges"][1] = pieces["edges"][0];
  expect_error(ErrorKind::BadData, {"column: edges", "ascending"},
               [&] { TableColumn::from_json(Field::root(pieces, "column")); });
  pieces["edges"] = {1, 2, 3};
  expect_error(ErrorKind::BadData, {"column: input_means", "expected 3"},
               [&] { TableColumn::from_json(Field::root(pieces, "column")); });
  json["type"] = "vector";
  expect_error(ErrorKind::BadData, {"column: type", "\"vector\"", "number, category, date"},
               [&] { TableColumn::from_json(Field::root(json, "column")); });
}

}  // namespace
}  // namespace fovea::tables::column_test
