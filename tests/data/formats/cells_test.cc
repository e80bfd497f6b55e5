#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/named_cells.h"

#include "tests/data/testing.h"

namespace fovea::cells_test {
namespace {

using Names = std::vector<std::string>;

TEST(Cells, Missing) {
  for (const char* cell : {"", "?", "NA", "N/A", "NaN", "nan", "null", "None", "NULL"})
    EXPECT_TRUE(is_missing(cell)) << cell;
  for (const char* cell : {"0", "-", "none", "na", "??", "Nan", "missing"})
    EXPECT_FALSE(is_missing(cell)) << cell;
}

TEST(Cells, Numbers) {
  double value = 0;
  EXPECT_TRUE(parse_cell("-1.5e3", value));
  EXPECT_EQ(value, -1500);
  EXPECT_TRUE(parse_cell("+7", value));
  EXPECT_EQ(value, 7);
  EXPECT_TRUE(parse_cell(".5", value));
  for (const char* cell : {"", "+", "+-1", "1,5", "1 2", "0x10", "inf", "-infinity", "nan", "1e39",
                           "1e400", "12a", "1_000"})
    EXPECT_FALSE(parse_cell(cell, value)) << cell;
}

TEST(Cells, TrimAndOrder) {
  EXPECT_EQ(trim_cell("  a b\t"), "a b");
  EXPECT_EQ(trim_cell("   "), "");
  Names numbers{"10", "9", "-1"};
  sort_naturally(numbers);
  EXPECT_EQ(numbers, (Names{"-1", "9", "10"}));
  Names texts{"b10", "b9", "10"};
  sort_naturally(texts);
  EXPECT_EQ(texts, (Names{"10", "b10", "b9"}));
}

TEST(Cells, RowsTypedWithoutHeader) {
  const Names file{"id", "a", "b", "y"}, inputs{"a", "b"};
  EXPECT_EQ(name_cells(Names{"1", "2"}, file, inputs, "y"), (NamedCells{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(name_cells(Names{"7", "1", "2"}, file, inputs, "y"),
            (NamedCells{{"id", "7"}, {"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(name_cells(Names{"7", "1", "2", "0"}, file, inputs, "y").at("y"), "0");
  expect_error(ErrorKind::BadData, {"5 cells", "expected 2", "'a', 'b'", "4"},
               [&] { name_cells(Names(5, "1"), file, inputs, "y"); });
}

TEST(Cells, NamesOfARow) {
  const NamedCells row{{"age", "3"}};
  EXPECT_EQ(named_cell(row, "age"), "3");
  expect_error(ErrorKind::BadData, {"no column 'hours'", "'age'"},
               [&] { named_cell(row, "hours"); });
  expect_error(ErrorKind::BadData, {"unknown column 'age'", "did you mean 'ages'"}, [&] {
    check_names(row, Names{"ages", "hours"});
  });
}

TEST(Cells, RowsWithAValue) {
  const CsvTable table = read_csv(fixture("people.csv"));
  const CsvTable kept = rows_with(table, table.column("workclass"));
  EXPECT_EQ(kept.rows(), 7);
  EXPECT_EQ(kept.cell(4, 0), "6");
}

TEST(Cells, DefaultTarget) {
  const TemporaryFolder folder;
  EXPECT_EQ(choose_target(read_csv(folder.write("a.csv", "y,label\n1,2\n")), ""), "label");
  EXPECT_EQ(choose_target(read_csv(folder.write("b.csv", "a,b\n1,2\n")), "b"), "b");
  expect_error(ErrorKind::NotFound, {"--target", "'age'", "'income'"},
               [&] { choose_target(read_csv(fixture("people.csv")), ""); });
  expect_error(ErrorKind::NotFound, {"did you mean 'income'"},
               [&] { choose_target(read_csv(fixture("people.csv")), "incme"); });
}

}  // namespace
}  // namespace fovea::cells_test
