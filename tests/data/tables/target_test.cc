#include "fovea/data/tables/target.h"

#include <cmath>

#include "tests/data/testing.h"

namespace fovea::target_test {
namespace {

using Names = std::vector<std::string>;

class TableTargetTest : public ::testing::Test {
 protected:
  /// A table with one column `y`.
  CsvTable table(const Names& cells) {
    std::string text = "y\n";
    for (const std::string& cell : cells) text += cell + "\n";
    return read_csv(folder_.write("t.csv", text));
  }
  TableTarget fit(const Names& cells, const std::string& kind = "auto") {
    return TableTarget::fit(table(cells), "y", kind);
  }
  double encode(const TableTarget& target, const std::string& cell) {
    const CsvTable one = table({cell});
    return target.encode(one.cell(0, 0), one, 0);
  }
  TemporaryFolder folder_;
};

TEST_F(TableTargetTest, TwoDifferentValuesAreTwoClasses) {
  const TableTarget numbers = fit({"10", "9", "10"});
  EXPECT_EQ(numbers.kind(), TargetKind::TwoClasses);
  EXPECT_EQ(numbers.classes(), (Names{"9", "10"}));
  EXPECT_EQ(encode(numbers, "10.0"), 1);  // the same number, spelt otherwise
  EXPECT_EQ(numbers.sentence(std::vector<int64_t>{1, 2}),
            "target 'y': two classes 9, 10 (66.7 % are 10)");
  const TableTarget texts = fit({"yes", "no", "no"});
  EXPECT_EQ(texts.kind(), TargetKind::TwoClasses);
  EXPECT_EQ(texts.classes(), (Names{"no", "yes"}));
  EXPECT_EQ(fit({"0.5", "0.25"}).kind(), TargetKind::TwoClasses);
}

TEST_F(TableTargetTest, TextAndFewWholeNumbersAreClasses) {
  const TableTarget texts = fit({"b", "a", "10", "a"});
  EXPECT_EQ(texts.kind(), TargetKind::Classes);
  EXPECT_EQ(texts.classes(), (Names{"10", "a", "b"}));
  EXPECT_EQ(encode(texts, "b"), 2);
  Names cells;
  for (int i = 0; i < 20; ++i) cells.push_back(std::to_string(i));
  EXPECT_EQ(fit(cells).kind(), TargetKind::Classes);
  EXPECT_EQ(fit(cells).classes()[10], "10");
  cells.push_back("20");
  EXPECT_EQ(fit(cells).kind(), TargetKind::Number);
  EXPECT_EQ(fit({"1", "2", "3.5"}).kind(), TargetKind::Number);
}

TEST_F(TableTargetTest, NumbersAreStandardised) {
  const TableTarget target = fit({"1.5", "2.5", "3.5"});
  EXPECT_EQ(target.mean(), 2.5);
  EXPECT_DOUBLE_EQ(target.deviation(), std::sqrt(2.0 / 3));
  EXPECT_DOUBLE_EQ(encode(target, "3.5") * target.deviation() + target.mean(), 3.5);
  expect_error(ErrorKind::BadData, {"t.csv:2", "'y'", "'x'", "number"},
               [&] { encode(target, "x"); });
}

TEST_F(TableTargetTest, TheKindCanBeTold) {
  EXPECT_EQ(fit({"1", "2", "3"}, "number").kind(), TargetKind::Number);
  EXPECT_EQ(fit({"1.5", "2.5", "3"}, "classes").classes(), (Names{"1.5", "2.5", "3"}));
  expect_error(ErrorKind::BadData, {"3 different values", "exactly 2"}, [&] {
    fit({"1", "2", "3"}, "two-classes");
  });
  expect_error(ErrorKind::BadData, {"t.csv:3", "'abc'"}, [&] { fit({"1", "abc"}, "number"); });
  expect_error(ErrorKind::InvalidArgument, {"'vector'", "two-classes"}, [&] {
    fit({"1", "2"}, "vector");
  });
}

TEST_F(TableTargetTest, WhatCannotBeLearnt) {
  expect_error(ErrorKind::BadData, {"'y'", "always '7'"}, [&] { fit({"7", "7"}); });
  expect_error(ErrorKind::BadData, {"missing in every row"},
               [&] { TableTarget::fit(table({"7"}).select({}), "y", "auto"); });
  Names many;
  for (int i = 0; i < 1001; ++i) many.push_back(std::to_string(i));
  many.push_back("n.a.");
  expect_error(ErrorKind::BadData, {"1,002 classes", "1,000", "'n.a.'", "t.csv:1003"},
               [&] { fit(many); });
  many.pop_back();
  expect_error(ErrorKind::BadData, {"1,001 classes", "target_kind=number"},
               [&] { fit(many, "classes"); });
}

TEST_F(TableTargetTest, AnUnseenClassIsAnError) {
  expect_error(ErrorKind::BadData, {"t.csv:2", "'2'", "'0', '1'"}, [&] {
    encode(fit({"0", "1"}), "2");
  });
  expect_error(ErrorKind::BadData, {"'no.'", "'no', 'yes'"}, [&] {
    encode(fit({"yes", "no"}), "no.");
  });
}

TEST_F(TableTargetTest, JsonKeepsEverything) {
  for (const TableTarget& target :
       {fit({"1.50", "0"}), fit({"a", "b", "c"}), fit({"1.5", "2", "9"})}) {
    const Json json = Json::parse(target.to_json().dump());
    const TableTarget again = TableTarget::from_json(Field::root(json, "target"));
    EXPECT_EQ(again.to_json(), target.to_json());
    EXPECT_EQ(again.kind(), target.kind());
  }
  Json json = fit({"0", "1"}).to_json();
  json["classes"] = {"0"};
  expect_error(ErrorKind::BadData, {"target: classes", "found 1, expected two"},
               [&] { TableTarget::from_json(Field::root(json, "target")); });
}

}  // namespace
}  // namespace fovea::target_test
